//! Processors by what programs must be made for.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What kind of processor a machine has, as its kernel names it: `x86_64`, `aarch64`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Architecture(String);

impl Architecture {
    /// Of its name, the kernel's (`aarch64`) or that of images (`arm64`); `None`: it has no name.
    #[must_use]
    pub fn new(name: &str) -> Option<Self> {
        let name = match name.trim() {
            "" => return None,
            "amd64" => "x86_64",
            "arm64" => "aarch64",
            name => name,
        };
        Some(Self(name.to_owned()))
    }

    /// What an executable file (ELF) of 64 bits is made for; `None`: it is none, or made for another one
    /// than those that Berth is built for.
    #[must_use]
    pub fn of_program(program: &[u8]) -> Option<Self> {
        let is_program = program.starts_with(b"\x7fELF\x02\x01");
        match program.get(18..20).filter(|_| is_program)? {
            [0x3e, 0] => Self::new("x86_64"),
            [0xb7, 0] => Self::new("aarch64"),
            _ => None,
        }
    }

    /// Of a platform as registries name them: `linux/arm64/v8`.
    #[must_use]
    pub fn of_platform(platform: &str) -> Option<Self> {
        Self::new(platform.split('/').nth(1)?)
    }

    /// The platform of its images: `linux/arm64`.
    #[must_use]
    pub fn platform(&self) -> String {
        let name = match self.0.as_str() {
            "x86_64" => "amd64",
            "aarch64" => "arm64",
            name => name,
        };
        format!("linux/{name}")
    }

    /// Its name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Architecture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_and_kernels_name_it_otherwise() {
        for (image, kernel) in [("amd64", "x86_64"), ("arm64", "aarch64"), ("ppc64le", "ppc64le")] {
            let architecture = Architecture::new(image).unwrap();
            assert_eq!(Some(&architecture), Architecture::new(kernel).as_ref());
            assert_eq!((architecture.as_str(), architecture.to_string()), (kernel, kernel.into()));
            assert_eq!(architecture.platform(), format!("linux/{image}"));
            let platform = Architecture::of_platform(&format!("linux/{image}/v8"));
            assert_eq!(platform, Some(architecture));
        }
        assert_eq!(Architecture::new(" "), None);
        assert_eq!(Architecture::of_platform("linux"), None);
    }

    #[test]
    fn a_program_says_what_it_is_made_for() {
        let program = |machine: u8| {
            let head = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x03\0".to_vec();
            [head, vec![machine, 0, 1]].concat()
        };
        let of = |program: &[u8]| Architecture::of_program(program).map(|made| made.to_string());
        assert_eq!(of(&program(0x3e)).as_deref(), Some("x86_64"));
        assert_eq!(of(&program(0xb7)).as_deref(), Some("aarch64"));
        for other in [program(0xf3).as_slice(), b"#!/bin/sh", b"\x7fELF\x02\x01", b""] {
            assert_eq!(of(other), None);
        }
    }
}
