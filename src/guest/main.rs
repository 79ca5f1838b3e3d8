//! The `berth-guest` program.

fn main() -> std::process::ExitCode {
    guest::main()
}
