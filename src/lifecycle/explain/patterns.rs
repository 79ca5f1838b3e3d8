//! The words by which causes are known: old TensorFlow's, and PyTorch's, JAX's, CUDA's and NCCL's of
//! today. All in small letters; a pattern matches a line that has all its parts.

/// Parts that a line must all have.
pub(super) type Pattern = &'static [&'static str];

/// Whether any pattern matches a line in small letters.
pub(super) fn matches(patterns: &[Pattern], line: &str) -> bool {
    patterns.iter().any(|pattern| pattern.iter().all(|part| line.contains(part)))
}

pub(super) const GPU_HARDWARE: &[Pattern] = &[
    &["cuda_error_ecc_uncorrectable"],
    &["uncorrectable ecc error"],
    &["cudaerroreccuncorrectable"],
    &["uncorrectable nvlink error"],
    &["gpu has fallen off the bus"],
    &["gpu is lost"],
    &["unable to determine the device handle for gpu"],
];

pub(super) const GPU_MEMORY: &[Pattern] = &[
    &["cuda out of memory"],
    &["hip out of memory"],
    &["cuda error: out of memory"],
    &["cuda_error_out_of_memory"],
    &["cudaerrormemoryallocation"],
    &["cudamalloc failed: out of memory"],
    &["cuda runtime error (2)", "out of memory"],
    &["torch.outofmemoryerror"],
    &["torch.cuda.outofmemoryerror"],
    &["cublas_status_alloc_failed"],
    &["cudnn_status_alloc_failed"],
    &["resourceexhaustederror", "oom"],
    &["resource_exhausted", "out of memory"],
    &["oom when allocating tensor"],
    &["ran out of memory trying to allocate"],
];

pub(super) const SHARED_MEMORY: &[Pattern] = &[
    &["bus error"],
    &["insufficient shared memory"],
    &["out of shared memory"],
    &["unable to open shared memory object"],
    &["unable to write to file </torch_"],
    &["unable to allocate shared memory(shm)"],
    &["no space left on device", "shm"],
    &["no space left on device", "/torch_"],
    &["error while creating shared memory segment"],
];

pub(super) const CUDA_VERSION: &[Pattern] = &[
    &["cuda driver version is insufficient for cuda runtime version"],
    &["driver on your system is too old"],
    &["no kernel image is available for execution on the device"],
    &["is not compatible with the current pytorch installation"],
    &["provided ptx was compiled with an unsupported toolchain"],
    &["forward compatibility was attempted on non supported hw"],
    &["unsupported display driver / cuda driver combination"],
    &["driver/library version mismatch"],
    &["cuda_error_system_driver_mismatch"],
    &["cudnn_status_version_mismatch"],
    &["cudnn version incompatibility"],
    &["dropout supported only in cudnn v"],
    &["unsatisfied condition: cuda"],
    &["importerror", "libcu", "cannot open shared object file"],
    &["importerror", "libnv", "cannot open shared object file"],
    &["oserror", "libcu", "cannot open shared object file"],
    &["error while loading shared libraries", "libcu"],
    &["undefined symbol", "libcu"],
    &["torch not compiled with cuda enabled"],
];

pub(super) const CUDA: &[Pattern] = &[
    &["cuda error"],
    &["cuda_error_"],
    &["cuda runtime error"],
    &["cudaerror"],
    &["cudnn error"],
    &["cudnn_status_"],
    &["cublas error"],
    &["cublas_status_"],
    &["device-side assert triggered"],
    &["an illegal memory access was encountered"],
    &["unspecified launch failure"],
    &["no cuda gpus are available"],
    &["found no nvidia driver"],
];

/// What TensorFlow says on a machine where no GPU was asked for.
pub(super) const NO_GPU_WANTED: &[Pattern] =
    &[&["cuinit"], &["cuda_error_no_device"], &["could not load dynamic library"]];

pub(super) const NCCL: &[Pattern] = &[
    &["nccl error"],
    &["ncclsystemerror"],
    &["ncclinternalerror"],
    &["ncclremoteerror"],
    &["ncclunhandledcudaerror"],
    &["ncclinvalidusage"],
    &["nccl communicator was aborted"],
    &["some nccl operations have failed or timed out"],
    &["watchdog caught collective operation timeout"],
    &["distbackenderror"],
    &["distnetworkerror"],
    &["diststoreerror"],
];

pub(super) const DISK_FULL: &[Pattern] =
    &[&["no space left on device"], &["disk quota exceeded"], &["errno 28"]];

pub(super) const COMMAND_ABSENT: &[Pattern] = &[
    &["command not found"],
    &["executable file not found"],
    &["not found", "exec:"],
    &["no such file or directory", "exec:"],
    &["no such file or directory", "exec "],
    &[": not found"],
    &["error while loading shared libraries"],
];

pub(super) const COMMAND_FORBIDDEN: &[Pattern] = &[
    &["permission denied", "exec:"],
    &["exec format error"],
    &["permission denied"],
    &["is a directory"],
];

pub(super) const EXEC_FORMAT: &[Pattern] = &[&["exec format error"]];

/// What engines say when a registry has an image, and none for their processors.
pub(super) const NO_VARIANT: &[Pattern] =
    &[&["no matching manifest for "], &["no match for platform in manifest"]];

pub(super) const MODULE_MISSING: &[Pattern] = &[&["no module named"], &["cannot find module"]];

pub(super) const FILE_MISSING: &[Pattern] =
    &[&["can't open file"], &["no such file or directory"], &["filenotfounderror"]];

pub(super) const PROGRAM_ERROR: &[Pattern] =
    &[&["syntax error near"], &["syntax error: "], &["syntaxerror:"], &["unbound variable"]];

pub(super) const KILLED: &[Pattern] =
    &[&["killed"], &["terminated"], &["out of memory"], &["keyboardinterrupt"], &["sigterm"]];

pub(super) const CRASHED: &[Pattern] = &[
    &["segmentation fault"],
    &["core dumped"],
    &["aborted"],
    &["address not mapped"],
    &["illegal instruction"],
    &["floating point exception"],
    &["broken pipe"],
    &["terminate called after throwing"],
    &["assertion", "failed"],
];
