//! The arguments of `ssh`, as far as they mean something here.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;
use std::time::Duration;

/// What somebody wants of us.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Request {
    /// To know who we are.
    Version,
    /// To be connected.
    Run(Box<Arguments>),
}

/// Whether the other side makes a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Terminal {
    /// If we have one and there is no command.
    Auto,
    /// If we have one.
    Wanted,
    /// In any case.
    Forced,
    /// In no case.
    No,
}

/// Where to, and what to do there.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Arguments {
    pub(super) host: String,
    pub(super) user: Option<String>,
    pub(super) port: Option<u16>,
    pub(super) identities: Vec<PathBuf>,
    /// Empty: a shell.
    pub(super) command: Vec<u8>,
    /// The command is a subsystem's name.
    pub(super) subsystem: bool,
    /// Nothing is run.
    pub(super) idle: bool,
    pub(super) terminal: Terminal,
    pub(super) no_input: bool,
    pub(super) quiet: bool,
    /// Whether a host that we do not know is refused.
    pub(super) strict: bool,
    pub(super) timeout: Option<Duration>,
}

/// Arguments that we cannot follow.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum ArgumentError {
    /// No host is named.
    #[error("usage: ssh [-p PORT] [-l USER] [-i KEY] [-o OPTION] [-tTnNqs] [USER@]HOST [COMMAND]")]
    NoHost,
    /// An option lacks its value.
    #[error("option -{0} needs a value")]
    NoValue(char),
    /// An option's value is none.
    #[error("{1} is no value for {0}")]
    BadValue(String, String),
    /// An option that does not exist.
    #[error("there is no option -{0}")]
    Unknown(char),
    /// An option that OpenSSH's client has.
    #[error("this small client cannot do -{0}; install an OpenSSH client")]
    Unsupported(char),
}

/// Options without a value that change nothing here.
const WITHOUT_EFFECT: &str = "46AaCgKkMVvXxYy";

/// Options with a value that change nothing here.
const VALUE_WITHOUT_EFFECT: &str = "BbcEeFImPQS";

/// Options without which the rest makes no sense.
const UNSUPPORTED: &str = "DJLORWwG";

/// Reads them. Options may stand before and after the host.
pub(super) fn parse(words: &[OsString]) -> Result<Request, ArgumentError> {
    let mut arguments = Arguments::new();
    let mut rest = words.iter();
    let mut command: Vec<OsString> = Vec::new();
    while let Some(word) = rest.next() {
        let text = word.to_string_lossy();
        match text.strip_prefix('-') {
            Some("-") if arguments.host.is_empty() => {
                arguments.set_host(&rest.next().ok_or(ArgumentError::NoHost)?.to_string_lossy());
            }
            Some("-") => {
                command.extend(rest.cloned());
                break;
            }
            Some("V") => return Ok(Request::Version),
            Some(letters) if !letters.is_empty() => arguments.options(letters, &mut rest)?,
            Some(_) | None if arguments.host.is_empty() => arguments.set_host(&text),
            Some(_) | None => {
                command.push(word.clone());
                command.extend(rest.cloned());
                break;
            }
        }
    }
    if arguments.host.is_empty() {
        return Err(ArgumentError::NoHost);
    }
    let command: Vec<&[u8]> = command.iter().map(|word| word.as_bytes()).collect();
    arguments.command = command.join(&b' ');
    Ok(Request::Run(Box::new(arguments)))
}

impl Arguments {
    fn new() -> Self {
        Self {
            host: String::new(),
            user: None,
            port: None,
            identities: Vec::new(),
            command: Vec::new(),
            subsystem: false,
            idle: false,
            terminal: Terminal::Auto,
            no_input: false,
            quiet: false,
            strict: true,
            timeout: None,
        }
    }

    fn set_host(&mut self, text: &str) {
        match text.rsplit_once('@') {
            Some((user, host)) => {
                self.user = Some(user.to_owned());
                self.host = host.to_owned();
            }
            None => self.host = text.to_owned(),
        }
    }

    /// One word of options: letters, of which one that takes a value is the last.
    fn options<'a>(
        &mut self,
        letters: &str,
        rest: &mut impl Iterator<Item = &'a OsString>,
    ) -> Result<(), ArgumentError> {
        for (place, letter) in letters.char_indices() {
            if self.flag(letter) {
                continue;
            }
            if UNSUPPORTED.contains(letter) {
                return Err(ArgumentError::Unsupported(letter));
            }
            if !"pilo".contains(letter) && !VALUE_WITHOUT_EFFECT.contains(letter) {
                return Err(ArgumentError::Unknown(letter));
            }
            let value = match &letters[place + letter.len_utf8()..] {
                "" => rest.next().cloned().ok_or(ArgumentError::NoValue(letter))?,
                value => value.into(),
            };
            return self.value(letter, value);
        }
        Ok(())
    }

    fn flag(&mut self, letter: char) -> bool {
        match letter {
            't' if self.terminal == Terminal::Wanted => self.terminal = Terminal::Forced,
            't' => self.terminal = Terminal::Wanted,
            'T' => self.terminal = Terminal::No,
            'n' | 'f' => self.no_input = true,
            'N' => self.idle = true,
            'q' => self.quiet = true,
            's' => self.subsystem = true,
            _ => return WITHOUT_EFFECT.contains(letter),
        }
        true
    }

    fn value(&mut self, letter: char, value: OsString) -> Result<(), ArgumentError> {
        match letter {
            'p' => self.port = Some(number("-p", &value.to_string_lossy())?),
            'i' => self.identities.push(value.into()),
            'l' => self.user = Some(value.to_string_lossy().into_owned()),
            'o' => self.setting(&value)?,
            _ => {}
        }
        Ok(())
    }

    /// `Name=value` or `Name value`, as in OpenSSH's configuration.
    fn setting(&mut self, text: &OsString) -> Result<(), ArgumentError> {
        let bytes = text.as_bytes();
        let end = bytes.iter().position(|byte| b"= \t".contains(byte)).unwrap_or(bytes.len());
        let (name, value) = bytes.split_at(end);
        let value = value.trim_ascii_start().strip_prefix(b"=").unwrap_or(value).trim_ascii();
        let text = String::from_utf8_lossy(value);
        match String::from_utf8_lossy(name).to_ascii_lowercase().as_str() {
            "port" => self.port = Some(number("Port", &text)?),
            "user" => self.user = Some(text.into_owned()),
            "identityfile" => self.identities.push(OsString::from_vec(value.to_vec()).into()),
            "stricthostkeychecking" => {
                self.strict = !matches!(&*text, "no" | "off" | "accept-new");
            }
            "connecttimeout" => {
                self.timeout = Some(Duration::from_secs(number("ConnectTimeout", &text)?));
            }
            "requesttty" => {
                self.terminal = match &*text {
                    "yes" => Terminal::Wanted,
                    "force" => Terminal::Forced,
                    "no" => Terminal::No,
                    _ => Terminal::Auto,
                }
            }
            _ => {}
        }
        Ok(())
    }
}

fn number<N: std::str::FromStr>(name: &str, value: &str) -> Result<N, ArgumentError> {
    value.parse().map_err(|_| ArgumentError::BadValue(name.to_owned(), value.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        line.split_whitespace().map(Into::into).collect()
    }

    fn run(line: &str) -> Arguments {
        match parse(&words(line)).unwrap() {
            Request::Run(arguments) => *arguments,
            Request::Version => panic!("{line} asks for the version"),
        }
    }

    #[test]
    fn options_stand_before_and_after_the_host() {
        let found = run("-x -p 7 -oUser=me worker-1 -q -i/k ls -l /");
        let expected = Arguments {
            host: "worker-1".into(),
            user: Some("me".into()),
            port: Some(7),
            identities: vec!["/k".into()],
            command: b"ls -l /".to_vec(),
            quiet: true,
            ..Arguments::new()
        };
        assert_eq!(found, expected);
        assert_eq!(run("-l me h").user, run("me@h").user);
        assert_eq!(run("h -- -x y").command, b"-x y");
        assert_eq!(run("-- h -x y").host, "h");
    }

    #[test]
    fn settings_are_as_in_a_configuration() {
        for setting in ["Port=7", "port 7", "PORT = 7"] {
            let words = ["-o".into(), setting.into(), "h".into()];
            let Request::Run(found) = parse(&words).unwrap() else { panic!() };
            assert_eq!(found.port, Some(7), "{setting}");
        }
        assert!(!run("-o StrictHostKeyChecking=no h").strict && run("-o BatchMode=yes h").strict);
        assert_eq!(run("-tt h").terminal, Terminal::Forced);
        assert_eq!(
            run("-nNsf h sftp"),
            Arguments {
                host: "h".into(),
                command: b"sftp".to_vec(),
                no_input: true,
                idle: true,
                subsystem: true,
                ..Arguments::new()
            }
        );
    }

    #[test]
    fn what_cannot_be_followed_is_told() {
        for (line, error) in [
            ("", ArgumentError::NoHost),
            ("-p", ArgumentError::NoValue('p')),
            ("-p x h", ArgumentError::BadValue("-p".into(), "x".into())),
            ("-L 1:h:2 h", ArgumentError::Unsupported('L')),
            ("-Z h", ArgumentError::Unknown('Z')),
        ] {
            assert_eq!(parse(&words(line)), Err(error), "{line}");
        }
        assert_eq!(parse(&words("-V")), Ok(Request::Version));
    }
}
