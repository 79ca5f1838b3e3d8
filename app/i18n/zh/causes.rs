use protocol::exit::Cause;

use crate::i18n::causes::signal;
use crate::number;

/// Why something ended. What a node or a registry said of it, `said` says.
pub(super) fn cause(cause: &Cause, said: fn(&str) -> String) -> String {
    let fixed = match cause {
        Cause::Succeeded => "命令以退出码 0 结束",
        Cause::CommandFailed => "命令出错退出",
        Cause::CommandNotFound => "镜像中找不到该命令",
        Cause::CommandNotExecutable => "该命令无法执行",
        Cause::GpuOutOfMemory => "显存不足",
        Cause::CudaVersion => "CUDA、cuDNN 与驱动版本不匹配",
        Cause::CudaError => "CUDA 出错",
        Cause::GpuHardware => "GPU 出现不可纠正的显存错误",
        Cause::NcclError => "NCCL 无法连接或超时",
        Cause::DiskFull => "硬盘空间已满",
        Cause::ModuleMissing => "缺少 Python 模块",
        Cause::FileMissing => "缺少文件",
        Cause::ProgramError => "程序出错",
        Cause::PortTaken => "端口被其他程序占用",
        Cause::Preempted => "被抢占：其资源为保障作业所需",
        Cause::TimeLimit => "已到运行时长上限",
        Cause::Idle { minutes } => return format!("其 GPU 已闲置 {minutes} 分钟"),
        Cause::OutOfMemory { limit_mb } => {
            return format!("内存超出申请的 {}，被系统终止", number::memory(*limit_mb));
        }
        Cause::SharedMemory { shm_mb } => {
            return format!("共享内存 {} 不足", number::memory(*shm_mb));
        }
        Cause::Signal { signal: number } => return format!("被信号 {} 终止", signal(*number)),
        Cause::ImageNotFound { image, message } => {
            return format!("无法拉取镜像 {image}：{}", said(message));
        }
        Cause::ImageUnavailable { node, image, message } => {
            return format!("节点 {node} 暂时无法获取镜像 {image}：{message}");
        }
        Cause::RegistryDenied { image } => return format!("镜像仓库拒绝访问 {image}"),
        Cause::OtherArchitecture { node, image, of_image: Some(made), of_node: Some(has) } => {
            return format!("镜像 {image} 是为 {made} 制作的，而节点 {node} 为 {has}");
        }
        Cause::OtherArchitecture { node, image, of_node: Some(has), of_image: None } => {
            return format!("镜像 {image} 没有适用于 {has} 的版本，而节点 {node} 为 {has}");
        }
        Cause::OtherArchitecture { node, image, of_node: None, of_image: _ } => {
            return format!("镜像 {image} 没有适用于节点 {node} 处理器的版本");
        }
        Cause::ContainerRefused { message } => return format!("容器无法启动：{}", said(message)),
        Cause::ContainerLost { node } => return format!("节点 {node} 上的容器已消失"),
        Cause::NodeDrained { node } => return format!("节点 {node} 被清空"),
        Cause::NodeLost { node } => return format!("节点 {node} 已失联"),
        Cause::EngineRestarted { node } => return format!("节点 {node} 的容器引擎已重启"),
        Cause::NodeOutOfMemory { node } => {
            return format!("节点 {node} 的内存耗尽，任务本身未超过内存上限");
        }
        Cause::NodeUnwell { node, message } => {
            return format!("节点 {node} 状态异常：{}", said(message));
        }
        Cause::StorageAbsent { node, storage: _, message } => {
            return format!("节点 {node} 缺少作业所需的存储：{}", said(message));
        }
        Cause::EngineFailed { node, message } => {
            return format!("节点 {node} 的容器引擎无法启动它：{}", said(message));
        }
        Cause::StopRequested { by } => return format!("由 {by} 停止"),
        Cause::JobEnded { role: Some(role), index: Some(index) } => {
            return format!("作业随任务 {role}-{index} 结束");
        }
        Cause::JobEnded { role: Some(role), index: None } => {
            return format!("作业按任务角色 {role} 的规则结束");
        }
        Cause::JobEnded { role: None, index: _ } => "作业按自身规则结束",
    };
    fixed.to_owned()
}

pub(super) fn remedy(cause: &Cause) -> &'static str {
    match cause {
        Cause::Signal { signal: 9 } => "未超过内存上限：被其他程序终止，或节点内存不足。",
        Cause::Signal { signal: 15 } => "容器内有程序要求它结束：timeout、kill 或其他程序。",
        Cause::Signal { signal: 4 | 6 | 7 | 8 | 11 } => {
            "原生代码崩溃：请检查各个库之间以及与 CPU 是否兼容。Python 可设置 PYTHONFAULTHANDLER=1 查看出错的行。"
        }
        Cause::CommandFailed | Cause::Signal { .. } => "日志末尾通常会说明原因。",
        Cause::CommandNotFound => "请检查拼写，并确认镜像中包含该命令。",
        Cause::CommandNotExecutable => {
            "请用解释器启动脚本（bash run.sh），或为其添加执行权限。日志中若有“exec format error”，则程序是为另一种处理器编译的：请改用适合该节点处理器的镜像，或用标签指定节点。"
        }
        Cause::OutOfMemory { .. } => "请申请更多内存，或减小批大小、减少数据加载进程。",
        Cause::SharedMemory { .. } => "请增大共享内存（shmMB），数据加载需要它。",
        Cause::GpuOutOfMemory => "请减小批大小，或改用显存更大的 GPU 型号。",
        Cause::CudaVersion => "请使用与节点驱动匹配的镜像。",
        Cause::CudaError => "可设置 CUDA_LAUNCH_BLOCKING=1 定位出错的代码行。",
        Cause::NcclError => "可设置 NCCL_DEBUG=INFO，并确认所有任务都在运行。",
        Cause::DiskFull => "请减少容器内的写入，或申请更多硬盘。",
        Cause::ModuleMissing => "请在镜像中安装，或在命令中先行安装。",
        Cause::FileMissing => "请检查路径：程序在容器内查找该文件。",
        Cause::ProgramError => "日志中有出错的文件和行号。",
        Cause::ImageNotFound { .. } => "请检查镜像名称和标签，并确认节点可以访问镜像仓库。",
        Cause::RegistryDenied { .. } => "请检查 authFile 中的用户名和密码。",
        Cause::OtherArchitecture { .. } => {
            "请使用包含该节点处理器版本的镜像（可用 docker buildx 构建），或用标签指定处理器与镜像相符的节点。"
        }
        Cause::ContainerRefused { .. } => "请检查镜像和命令。",
        Cause::TimeLimit => "请提高上限，或保存检查点后继续运行。",
        Cause::Idle { .. } => {
            "该虚拟集群会停止不使用 GPU 的作业。请在需要计算时再启动，或及时在作业页面上选择保留。"
        }
        Cause::GpuHardware
        | Cause::PortTaken
        | Cause::ContainerLost { .. }
        | Cause::NodeLost { .. }
        | Cause::EngineRestarted { .. }
        | Cause::NodeOutOfMemory { .. }
        | Cause::NodeUnwell { .. }
        | Cause::EngineFailed { .. }
        | Cause::ImageUnavailable { .. } => "属于平台原因：系统会自动重试，不计入重试次数。",
        Cause::StorageAbsent { .. } => {
            "作业会改到具备该存储的节点上运行；若没有这样的节点，则等待。不计入重试次数。"
        }
        Cause::NodeDrained { .. } | Cause::Preempted => {
            "作业会自动回到队列中原来的位置并重新开始，不计入重试次数。"
        }
        Cause::Succeeded | Cause::StopRequested { .. } | Cause::JobEnded { .. } => "",
    }
}
