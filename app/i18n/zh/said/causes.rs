//! How something ended. What follows the first sentence is advice, which the pages give themselves.

use crate::i18n::said::sayings;

pub(super) const CAUSES: &str = sayings![
    ("It succeeded.{}", "成功结束"),
    ("The command failed.{}", "命令出错退出"),
    ("The command was not found in the image.{}", "镜像中找不到该命令"),
    ("The command cannot be executed.{}", "该命令无法执行"),
    (
        "It used more memory than the {} MB it asked for and was killed.{}",
        "内存超出申请的 {0} MB，被系统终止",
    ),
    ("The shared memory (/dev/shm) of {} MB was too small.{}", "共享内存（/dev/shm）{0} MB 不足"),
    ("The GPU ran out of memory.{}", "显存不足"),
    (
        "CUDA, cuDNN and the driver's versions do not fit together.{}",
        "CUDA、cuDNN 与驱动版本不匹配",
    ),
    ("CUDA reported an error.{}", "CUDA 出错"),
    ("A GPU has uncorrectable memory errors.{}", "GPU 出现不可纠正的显存错误"),
    ("NCCL could not connect, or timed out.{}", "NCCL 无法连接或超时"),
    ("No space was left on the disk.{}", "硬盘空间已满"),
    ("A Python module is missing.{}", "缺少 Python 模块"),
    ("A file is missing.{}", "缺少文件"),
    ("The program has a syntax or name error.{}", "程序有语法或名称错误"),
    ("It was killed by signal {}.{}", "被信号 {0} 终止"),
    ("The image {} could not be pulled: {}.{}", "无法拉取镜像 {0}：{1}"),
    ("The image {} could not be brought to {}: {}.{}", "节点 {1} 暂时无法获取镜像 {0}：{2}"),
    ("The registry refused access to {}.{}", "镜像仓库拒绝访问 {0}"),
    ("The image {} is made for {}, and {} has {}.{}", "镜像 {0} 是为 {1} 制作的，而 {2} 为 {3}"),
    (
        "The image {} has no variant for {}, which {} has.{}",
        "镜像 {0} 没有适用于 {1} 的版本，而 {2} 为 {1}",
    ),
    (
        "The image {} has no variant for the processors of {}.{}",
        "镜像 {0} 没有适用于 {1} 处理器的版本",
    ),
    ("The engine refused to start the container: {}.{}", "容器无法启动：{0}"),
    ("One of its ports was taken by another program.{}", "端口被其他程序占用"),
    ("Its container on {} vanished.{}", "节点 {0} 上的容器已消失"),
    ("Its node {} was lost.{}", "节点 {0} 已失联"),
    ("The container engine of {} restarted.{}", "节点 {0} 的容器引擎已重启"),
    (
        "The memory of {} ran out; the task was below its own limit.{}",
        "节点 {0} 的内存耗尽，任务本身未超过内存上限",
    ),
    ("Its node {} is not well: {}.{}", "节点 {0} 状态异常：{1}"),
    ("Its node {} lacks a storage: {}.{}", "节点 {0} 缺少作业所需的存储：{1}"),
    ("The container engine of {} could not start it: {}.{}", "节点 {0} 的容器引擎无法启动它：{1}"),
    ("Its node {} was emptied.{}", "节点 {0} 被清空"),
    ("Its place was needed for guaranteed work.{}", "被抢占：其资源为保障作业所需"),
    ("It was stopped by {}.{}", "由 {0} 停止"),
    ("It was ended with the job: task {} decided.{}", "作业随任务 {0} 结束"),
    ("It was ended with the job.{}", "随作业结束"),
    ("Its time limit was over.{}", "已到运行时长上限"),
    ("Its GPUs did nothing for {}.{}", "其 GPU 已闲置 {0}"),
];
