//! How containers end, and what is said of it.

use std::sync::LazyLock;

use protocol::guest::{COMMAND_UNUSABLE, NODE_HAD_MEMORY};

use super::*;

static NODE: LazyLock<NodeName> = LazyLock::new(|| "node-1".parse().unwrap());

fn ended(code: i32, log_tail: &str) -> Ended<'_> {
    Ended { code, oom_killed: false, memory_mb: 8192, shm_mb: 64, node: &NODE, log_tail }
}

/// Exit code and log; the cause, and a part of the evidence (`None`: there is no evidence).
type Case = (i32, &'static str, Cause, Option<&'static str>);

#[track_caller]
fn check(cases: &[Case]) {
    for (code, log, cause, shown) in cases {
        let exit = explain(&ended(*code, log));
        assert_eq!(exit.cause, *cause, "{code} {log:?}");
        assert_eq!(exit.code, Some(*code));
        let evidence = exit.evidence.join("\n");
        match shown {
            Some(part) => assert!(evidence.contains(part), "{part:?} of {log:?} in {evidence:?}"),
            None => assert_eq!(evidence, "", "{code} {log:?}"),
        }
    }
}

#[test]
fn exit_codes_and_signals() {
    use Cause::{CommandFailed, CommandNotExecutable, CommandNotFound, Succeeded};
    let signal = |signal| Cause::Signal { signal };
    let shared_memory = || Cause::SharedMemory { shm_mb: 64 };
    check(&[
        (0, "CUDA out of memory, so I took less", Succeeded, None),
        (1, "", CommandFailed, None),
        (3, "epoch 1\nbye", CommandFailed, Some("bye")),
        (1, "Traceback\nValueError: bad lr\nstopped", CommandFailed, Some("ValueError: bad lr")),
        (127, "bash: line 1: pyhton: command not found", CommandNotFound, Some("pyhton")),
        (127, "sh: 1: nvcc: not found", CommandNotFound, Some("nvcc")),
        (127, "", CommandNotFound, None),
        (126, "bash: ./run.sh: Permission denied", CommandNotExecutable, Some("run.sh")),
        (
            126,
            "./a: cannot execute binary file: Exec format error",
            CommandNotExecutable,
            Some("./a"),
        ),
        (137, "Killed", signal(9), Some("Killed")),
        (137, "CUDA out of memory, taking less\nepoch 2", signal(9), Some("out of memory")),
        (137, "", signal(9), None),
        (143, "FileNotFoundError: x", signal(15), None),
        (125, "", CommandFailed, None),
        (125, "timeout: invalid time", CommandFailed, Some("invalid time")),
        (139, "ImportError: no apex, going on without", signal(11), None),
        (143, "", signal(15), None),
        (130, "KeyboardInterrupt", signal(2), Some("Keyboard")),
        (139, "Segmentation fault (core dumped)", signal(11), Some("Segmentation")),
        (134, "terminate called after throwing an instance of 'x'", signal(6), Some("terminate")),
        (136, "", signal(8), None),
        (135, "Bus error (core dumped)", shared_memory(), Some("Bus error")),
        (135, "", signal(7), None),
        (200, "", CommandFailed, None),
        (255, "", CommandFailed, None),
        (-1, "", CommandFailed, None),
    ]);
}

#[test]
fn memory_and_disks_that_are_full() {
    use Cause::{DiskFull, GpuOutOfMemory};
    let shared_memory = || Cause::SharedMemory { shm_mb: 64 };
    check(&[
        (
            1,
            "RuntimeError: DataLoader worker (pid 42) is killed by signal: Bus error. It is possible \
             that dataloader's workers are out of shared memory.",
            shared_memory(),
            Some("pid 42"),
        ),
        (
            1,
            "RuntimeError: unable to write to file </torch_42_1>: No space left on device (28)",
            shared_memory(),
            Some("torch_42"),
        ),
        (1, "OSError: [Errno 28] No space left on device: '/out/m.pt'", DiskFull, Some("m.pt")),
        (1, "tar: write error: Disk quota exceeded", DiskFull, Some("quota")),
        (
            1,
            "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.",
            GpuOutOfMemory,
            Some("2.00 GiB"),
        ),
        (
            134,
            "E tensorflow failed to allocate 11G: CUDA_ERROR_OUT_OF_MEMORY: out of memory",
            GpuOutOfMemory,
            Some("11G"),
        ),
        (
            1,
            "tensorflow.python.framework.errors_impl.ResourceExhaustedError: OOM when allocating",
            GpuOutOfMemory,
            Some("OOM"),
        ),
        (
            1,
            "jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying",
            GpuOutOfMemory,
            Some("RESOURCE"),
        ),
        (1, "CUDA runtime error (2) : out of memory at x.cu", GpuOutOfMemory, Some("(2)")),
    ]);
}

#[test]
fn gpus_and_what_talks_to_them() {
    use Cause::{CommandFailed, CudaError, CudaVersion, GpuHardware, NcclError};
    check(&[
        (
            1,
            "CUDA error: uncorrectable ECC error encountered\nCUDA out of memory",
            GpuHardware,
            Some("ECC"),
        ),
        (
            1,
            "CUDA driver version is insufficient for CUDA runtime version",
            CudaVersion,
            Some("insufficient"),
        ),
        (
            1,
            "RuntimeError: CUDA error: no kernel image is available for execution on the device",
            CudaVersion,
            Some("kernel image"),
        ),
        (
            1,
            "ImportError: libcudart.so.10.0: cannot open shared object file: No such file",
            CudaVersion,
            Some("libcudart"),
        ),
        (
            127,
            "./train: error while loading shared libraries: libcublas.so.11: cannot open",
            CudaVersion,
            Some("libcublas"),
        ),
        (
            1,
            "W Could not load dynamic library 'libcudart.so.11.0'; dlerror: libcudart.so.11.0: \
             cannot open shared object file\nE failed call to cuInit: CUDA_ERROR_NO_DEVICE: no \
             CUDA-capable device is detected\nValueError: x",
            CommandFailed,
            Some("ValueError"),
        ),
        (
            1,
            "RuntimeError: CUDA error: device-side assert triggered\n[rank0]: NCCL error in: x",
            CudaError,
            Some("device-side"),
        ),
        (
            1,
            "[rank1]: torch.distributed.DistBackendError: NCCL error in: /x.cpp:1970, unhandled \
             system error (run with NCCL_DEBUG=INFO for details), NCCL version 2.20.5",
            NcclError,
            Some("2.20.5"),
        ),
        (
            134,
            "[Rank 1] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=3)",
            NcclError,
            Some("SeqNum"),
        ),
    ]);
}

#[test]
fn mistakes_in_programs_and_images() {
    use Cause::{CommandFailed, FileMissing, ModuleMissing, ProgramError};
    check(&[
        (1, "ModuleNotFoundError: No module named 'scipy'", ModuleMissing, Some("scipy")),
        (1, "[rank0]: ModuleNotFoundError: No module named 'scipy'", ModuleMissing, Some("scipy")),
        (1, "ImportError: No module named scipy", ModuleMissing, Some("scipy")),
        (1, "/usr/bin/python3: No module named torch.run", ModuleMissing, Some("torch.run")),
        (
            1,
            "warning: ModuleNotFoundError: no apex, doing without\nValueError: bad",
            CommandFailed,
            Some("ValueError"),
        ),
        (1, "FileNotFoundError: [Errno 2] No such file: 'd'", FileMissing, Some("'d'")),
        (
            2,
            "python: can't open file '/root/train.py': [Errno 2] No such file or directory",
            FileMissing,
            Some("train.py"),
        ),
        (1, "cat: /data/x: No such file or directory", FileMissing, Some("/data/x")),
        (
            1,
            "  File \"t.py\", line 3\n    x = = 1\n        ^\nSyntaxError: invalid syntax",
            ProgramError,
            Some("line 3"),
        ),
        (1, "NameError: name 'modle' is not defined", ProgramError, Some("modle")),
        (
            1,
            "NameError: name 'x' is not defined\ntorch.distributed.elastic.multiprocessing.errors.\
             ChildFailedError:",
            ProgramError,
            Some("'x'"),
        ),
        (2, "bash: -c: line 1: syntax error near unexpected token `('", ProgramError, Some("`('")),
    ]);
}

#[test]
fn only_the_engine_knows_of_out_of_memory() {
    for code in [137, 1] {
        let exit = explain(&Ended { oom_killed: true, ..ended(code, "a\nKilled\nb") });
        assert_eq!(exit.cause, Cause::OutOfMemory { limit_mb: 8192 });
        assert_eq!(exit.evidence, ["Killed"]);
    }
    let survived = explain(&Ended { oom_killed: true, ..ended(0, "") });
    assert_eq!(survived.cause, Cause::Succeeded);
}

#[test]
fn the_kernel_takes_memory_for_the_node_as_well() {
    let said = format!("epoch 3\nKilled\nberth: the command failed\n\nberth: {NODE_MEMORY}\n");
    for oom_killed in [false, true] {
        let exit = explain(&Ended { oom_killed, ..ended(137, &said) });
        assert_eq!(
            (exit.code, exit.cause),
            (Some(137), Cause::NodeOutOfMemory { node: NODE.clone() })
        );
        assert_eq!(exit.evidence, [format!("berth: {NODE_MEMORY}")]);
    }
    // Of a process without which the program went on, or said by the program.
    for (code, log) in [
        (1, said.clone()),
        (137, format!("berth: {NODE_MEMORY}\nepoch 4\n")),
        (137, format!("berth: {NODE_MEMORY}\n\nberth: {NODE_HAD_MEMORY}\n")),
    ] {
        let exit = explain(&Ended { oom_killed: code == 137, ..ended(code, &log) });
        assert_ne!(exit.cause.blame(), protocol::exit::Blame::Platform, "{log}");
    }
}

#[test]
fn the_engines_words_when_it_refuses_to_start() {
    let refused = |message: &str| Cause::ContainerRefused { message: message.to_owned() };
    let odd = "invalid mount config for type \"bind\"";
    let runc = "OCI runtime create failed: runc create failed: unable to start container process: ";
    let cases = [
        (
            format!("{runc}exec: \"bash\": executable file not found in $PATH"),
            Cause::CommandNotFound,
        ),
        (format!("{runc}exec: \"/x\": stat /x: no such file or directory"), Cause::CommandNotFound),
        (format!("{runc}exec: \"/x\": permission denied"), Cause::CommandNotExecutable),
        (
            format!(
                "{runc}nvidia-container-cli: requirement error: unsatisfied condition: cuda>=12.4"
            ),
            Cause::CudaVersion,
        ),
        (odd.to_owned(), refused(odd)),
        (String::new(), refused("")),
    ];
    for (message, cause) in cases {
        let exit = refusal(&message);
        assert_eq!(exit.cause, cause, "{message}");
        assert_eq!(exit.evidence.is_empty(), message.is_empty());
    }
}

#[test]
fn a_port_that_was_taken_is_the_guests_to_say_before_anything_ran() {
    let taken = "berth: port 20022 is taken by another program on this node\n";
    let exit = explain(&ended(125, taken));
    assert_eq!((exit.code, exit.cause), (None, Cause::PortTaken));
    assert_eq!(exit.evidence, [taken.trim()]);
    let both = format!("berth: nobody can enter by SSH: x\n{taken}");
    assert_eq!(explain(&ended(125, &both)).cause, Cause::PortTaken);
    for (code, log) in [(1, taken.to_owned()), (125, format!("starting\n{taken}"))] {
        assert_eq!(explain(&ended(code, &log)).cause, Cause::CommandFailed, "{log}");
    }
}

#[test]
fn a_guest_that_cannot_work_is_not_the_programs_fault() {
    let said = format!("berth: {CANNOT_BEGIN}: Too many open files (os error 24)\n");
    let exit = explain(&ended(125, &said));
    let message = said.trim().trim_start_matches(GUEST).to_owned();
    assert_eq!(exit.cause, Cause::EngineFailed { node: NODE.clone(), message });
    assert_eq!((exit.code, exit.evidence), (None, vec![said.trim().to_owned()]));
    for (code, log) in [(1, said.clone()), (125, format!("epoch 1\n{said}"))] {
        assert_eq!(explain(&ended(code, &log)).cause, Cause::CommandFailed, "{log}");
    }
}

#[test]
fn what_begins_a_second_time_in_its_container_is_the_engines_doing() {
    let exit = explain(&ended(125, &format!("epoch 1\nberth: {BEGUN_BEFORE}\n")));
    let message = BEGUN_BEFORE.to_owned();
    assert_eq!(
        (exit.code, exit.cause),
        (None, Cause::EngineFailed { node: NODE.clone(), message })
    );
    let said = format!("berth: {BEGUN_BEFORE}\nberth: {COMMAND_UNUSABLE}\n");
    assert_eq!(explain(&ended(125, &said)).cause, Cause::CommandFailed, "a program said so");
}

#[test]
fn a_program_that_was_started_is_not_believed_that_it_was_not() {
    let started = format!("\nberth: {COMMAND_UNUSABLE}\n");
    for said in [CANNOT_BEGIN.to_owned(), format!("port 20022 {PORT_TAKEN}")] {
        let exit =
            explain(&ended(125, &format!("berth: {said}: x{started}berth: {said}{started}")));
        assert_eq!((exit.code, exit.cause), (Some(125), Cause::CommandFailed), "{said}");
    }
}

#[test]
fn evidence_is_readable_and_short() {
    let log = "\u{1b}[31mCUDA out of memory\u{1b}[0m 1\r\n".repeat(9) + &"x".repeat(2000) + "\n\n";
    let exit = explain(&ended(1, &log));
    assert_eq!(exit.evidence, ["CUDA out of memory 1"; 5]);
    let long = explain(&ended(1, &"é".repeat(2000)));
    assert_eq!(long.evidence[0].chars().count(), 500);
}

#[test]
fn a_program_for_other_processors_is_noticed() {
    let said = "berth: cannot start /bin/sh: Exec format error (os error 8)\n";
    assert!(is_foreign(&explain(&ended(126, said))));
    assert!(!is_foreign(&explain(&ended(126, "sh: ./run: Permission denied\n"))));
    assert!(!is_foreign(&explain(&ended(1, said))), "it went on");
    let newer = "no matching manifest for linux/arm64/v8 in the manifest list entries: no match \
                 for platform in manifest: not found";
    assert_eq!(no_variant(newer), Some(Architecture::new("aarch64")));
    assert_eq!(no_variant("no match for platform in manifest: not found"), Some(None));
    assert_eq!(no_variant("manifest unknown"), None);
}
