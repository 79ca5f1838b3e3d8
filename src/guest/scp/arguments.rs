//! The arguments of `scp`.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

/// What somebody wants of us.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Request {
    /// To copy.
    Copy(Arguments),
    /// To be the receiving server of an older client.
    Receive(Options),
    /// To be the sending server of an older client.
    Send(Options),
}

/// How to copy.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Options {
    /// Folders with all that is in them.
    pub(super) recursive: bool,
    /// With times and permissions.
    pub(super) preserve: bool,
    /// The target must be a folder; for a server only.
    pub(super) into_folder: bool,
    /// What to send, or where to receive; for a server only.
    pub(super) paths: Vec<PathBuf>,
}

/// What to copy, and how.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Arguments {
    pub(super) copy: Copy,
    pub(super) options: Options,
    /// Arguments for `ssh`.
    pub(super) ssh: Vec<OsString>,
}

/// From where to where.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Copy {
    /// To a host.
    To { sources: Vec<PathBuf>, host: OsString, target: PathBuf },
    /// From hosts.
    From { sources: Vec<(OsString, PathBuf)>, target: PathBuf },
}

/// Arguments that we cannot follow.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum ArgumentError {
    /// Too few are there.
    #[error("usage: scp [-rpq] [-P PORT] [-i KEY] [-o OPTION] SOURCE… TARGET")]
    TooFew,
    /// An option lacks its value.
    #[error("option -{0} needs a value")]
    NoValue(char),
    /// An option that we do not have.
    #[error("there is no option -{0}")]
    Unknown(char),
    /// Not between here and one host.
    #[error("one side must be here and the other a host")]
    Sides,
}

/// Reads them.
pub(super) fn parse(words: &[OsString]) -> Result<Request, ArgumentError> {
    let mut found = Found::default();
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        match word.as_bytes() {
            b"--" => found.paths.extend(rest.by_ref().cloned()),
            [b'-', letters @ ..] if !letters.is_empty() => found.options(letters, &mut rest)?,
            _ => found.paths.push(word.clone()),
        }
    }
    found.request()
}

#[derive(Default)]
struct Found {
    options: Options,
    ssh: Vec<OsString>,
    server: Option<char>,
    paths: Vec<OsString>,
}

impl Found {
    fn options<'a>(
        &mut self,
        letters: &[u8],
        rest: &mut impl Iterator<Item = &'a OsString>,
    ) -> Result<(), ArgumentError> {
        for (place, letter) in letters.iter().copied().map(char::from).enumerate() {
            match letter {
                'r' => self.options.recursive = true,
                'p' => self.options.preserve = true,
                'd' => self.options.into_folder = true,
                't' | 'f' => self.server = Some(letter),
                'q' => self.ssh.push("-q".into()),
                'v' | 'B' | 'C' | '3' | 'O' | 's' | 'T' | '4' | '6' | 'A' | 'R' => {}
                'P' | 'i' | 'o' | 'c' | 'F' | 'S' | 'l' | 'J' | 'D' | 'X' => {
                    let value = match &letters[place + 1..] {
                        [] => rest.next().cloned().ok_or(ArgumentError::NoValue(letter))?,
                        value => OsStr::from_bytes(value).to_owned(),
                    };
                    self.pass_on(letter, value);
                    break;
                }
                other => return Err(ArgumentError::Unknown(other)),
            }
        }
        Ok(())
    }

    fn pass_on(&mut self, letter: char, value: OsString) {
        let option = match letter {
            'P' => "-p",
            'i' => "-i",
            'o' => "-o",
            _ => return,
        };
        self.ssh.extend([option.into(), value]);
    }

    fn request(mut self) -> Result<Request, ArgumentError> {
        if let Some(server) = self.server {
            self.options.paths = self.paths.into_iter().map(Into::into).collect();
            return match (server, self.options.paths.len()) {
                ('f', 1..) => Ok(Request::Send(self.options)),
                ('t', 1) => Ok(Request::Receive(self.options)),
                _ => Err(ArgumentError::TooFew),
            };
        }
        let target = self.paths.pop().ok_or(ArgumentError::TooFew)?;
        if self.paths.is_empty() {
            return Err(ArgumentError::TooFew);
        }
        let sources = self.paths.iter().map(|path| split(path));
        let copy = match split(&target) {
            Ok((host, target)) => {
                let sources: Result<_, _> = sources.map(flip).collect();
                Copy::To { sources: sources.map_err(|_| ArgumentError::Sides)?, host, target }
            }
            Err(target) => {
                let sources: Result<_, _> = sources.collect();
                Copy::From { sources: sources.map_err(|_| ArgumentError::Sides)?, target }
            }
        };
        Ok(Request::Copy(Arguments { copy, options: self.options, ssh: self.ssh }))
    }
}

/// Host and path, or, as an error, a path here.
fn split(word: &OsStr) -> Result<(OsString, PathBuf), PathBuf> {
    let bytes = word.as_bytes();
    let bracket = bytes.iter().position(|&byte| byte == b']').unwrap_or(0);
    let colon = bytes[bracket..].iter().position(|&byte| byte == b':').map(|at| bracket + at);
    match colon {
        Some(colon) if colon > 0 && !bytes[..colon].contains(&b'/') => {
            let path = match &bytes[colon + 1..] {
                b"" | b"~" | b"~/" => b".",
                [b'~', b'/', path @ ..] => path,
                path => path,
            };
            let host = bytes[..colon].iter().copied().filter(|byte| !b"[]".contains(byte));
            let host = OsStr::from_bytes(&host.collect::<Vec<u8>>()).to_owned();
            Ok((host, PathBuf::from(OsStr::from_bytes(path))))
        }
        Some(_) | None => Err(word.into()),
    }
}

fn flip<A, B>(result: Result<A, B>) -> Result<B, A> {
    match result {
        Ok(value) => Err(value),
        Err(error) => Ok(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        line.split_whitespace().map(Into::into).collect()
    }

    #[test]
    fn the_side_with_a_host_is_there() {
        let Ok(Request::Copy(up)) = parse(&words("-rp -P 7 -q a b/c:d root@h:e/f")) else {
            panic!()
        };
        assert!(up.options.recursive && up.options.preserve);
        assert_eq!(up.ssh, ["-p", "7", "-q"]);
        assert_eq!(
            up.copy,
            Copy::To {
                sources: vec!["a".into(), "b/c:d".into()],
                host: "root@h".into(),
                target: "e/f".into(),
            }
        );
        let Ok(Request::Copy(down)) = parse(&words("h: [::1]:/x ~here")) else { panic!() };
        let sources = vec![("h".into(), ".".into()), ("::1".into(), "/x".into())];
        assert_eq!(down.copy, Copy::From { sources, target: "~here".into() });
    }

    #[test]
    fn an_older_client_starts_us_as_its_server() {
        let expected = Options { recursive: true, paths: vec!["x".into()], ..Options::default() };
        assert_eq!(parse(&words("-r -t -- x")), Ok(Request::Receive(expected.clone())));
        assert_eq!(parse(&words("-rf x")), Ok(Request::Send(expected)));
    }

    #[test]
    fn what_cannot_be_followed_is_told() {
        for (line, error) in [
            ("a", ArgumentError::TooFew),
            ("-t", ArgumentError::TooFew),
            ("a b", ArgumentError::Sides),
            ("g:a h:b", ArgumentError::Sides),
            ("-Z a h:b", ArgumentError::Unknown('Z')),
            ("-P", ArgumentError::NoValue('P')),
        ] {
            assert_eq!(parse(&words(line)), Err(error), "{line}");
        }
    }
}
