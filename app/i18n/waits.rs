//! Amounts in sentences about waiting.

use protocol::amount::Amount;
use protocol::wait::ResourceKind;

use crate::number;

/// An amount with its unit.
pub(super) fn amount(resource: ResourceKind, value: Amount) -> String {
    match resource {
        ResourceKind::Cpu | ResourceKind::Gpu | ResourceKind::Port => number::amount(value),
        ResourceKind::Memory => number::memory(value.floor()),
        ResourceKind::Disk => number::disk(value.floor()),
    }
}

/// Names one after the other.
pub(super) fn list<T: ToString>(names: &[T], separator: &str) -> String {
    names.iter().map(ToString::to_string).collect::<Vec<_>>().join(separator)
}

#[cfg(test)]
mod tests {
    use protocol::wait::{Limited, WaitReason};

    use super::*;
    use crate::i18n::Language;

    #[test]
    fn who_would_get_nothing_of_it_is_not_told_to_ask_for_less() {
        let said = |language: Language, resource, best_node: u64| {
            let best_node = Amount::from(best_node);
            let gpu_types = Vec::new();
            let reason = WaitReason::Short { resource, gpu_types, needs: 4.into(), best_node };
            (language.texts().wait_remedy)(&reason)
        };
        let english = |resource, best_node| said(Language::English, resource, best_node);
        assert!(english(ResourceKind::Gpu, 1).contains("less"));
        assert!(english(ResourceKind::Gpu, 0).contains("another GPU type"));
        assert_eq!(english(ResourceKind::Port, 0), "Starts when jobs that hold it end.");
        let chinese = |resource, best_node| said(Language::Chinese, resource, best_node);
        assert!(chinese(ResourceKind::Memory, 1).contains("减少"));
        assert!(chinese(ResourceKind::Gpu, 0).contains("其他型号"));
        assert_eq!(chinese(ResourceKind::Memory, 0), "占用该资源的作业结束后即可启动。");
    }

    #[test]
    fn what_is_short_is_said_with_the_types_that_are_asked_for() {
        let said = |language: Language, types: &[&str], milli: u64| {
            let reason = WaitReason::Short {
                resource: ResourceKind::Gpu,
                gpu_types: types.iter().map(|of| of.parse().unwrap()).collect(),
                needs: Amount::from_milli(milli),
                best_node: Amount::from_milli(milli / 4),
            };
            (language.texts().wait)(&reason)
        };
        let cases: [(&[&str], u64, &str, &str); 4] = [
            (
                &["A100"],
                8000,
                "No node has enough A100 GPUs: a task needs 8, the best node has 2 free",
                "A100 GPU 不足：单任务需要 8，节点最多空闲 2",
            ),
            (
                &["A100", "V100"],
                8000,
                "No node has enough A100 or V100 GPUs: a task needs 8, the best node has 2 free",
                "A100 或 V100 GPU 不足：单任务需要 8，节点最多空闲 2",
            ),
            (
                &["A100"],
                400,
                "A task needs 0.4 of one A100 GPU, none has more than 0.1 free",
                "单任务需要一张 A100 GPU 的 0.4，单张 GPU 最多空闲 0.1",
            ),
            (
                &[],
                8000,
                "No node has enough GPUs: a task needs 8, the best node has 2 free",
                "GPU 不足：单任务需要 8，节点最多空闲 2",
            ),
        ];
        for (types, milli, english, chinese) in cases {
            assert_eq!(said(Language::English, types, milli), english);
            assert_eq!(said(Language::Chinese, types, milli), chinese);
        }
    }

    #[test]
    fn what_is_free_apart_is_said_with_its_type() {
        let said = |language: Language, types: &[&str], free| {
            let gpu_types = types.iter().map(|of| of.parse().unwrap()).collect();
            let reason = WaitReason::Fragmented { gpu_types, needs: 8, free, best_node: 3 };
            (language.texts().wait)(&reason)
        };
        let apart = "free, but on no single node more than 3; this task needs 8 on one node";
        assert_eq!(said(Language::English, &[], 12), format!("12 GPUs are {apart}"));
        assert_eq!(said(Language::English, &["A100"], 1), format!("1 A100 GPU is {apart}"));
        let apart = "张，但单节点最多 3 张；本任务需单节点 8 张";
        assert_eq!(said(Language::Chinese, &[], 12), format!("空闲 GPU 共 12 {apart}"));
        assert_eq!(said(Language::Chinese, &["A100"], 12), format!("空闲 A100 GPU 共 12 {apart}"));
    }

    #[test]
    fn one_of_a_thing_is_said_in_the_singular() {
        let english = Language::English.texts();
        let reason = WaitReason::UserLimit {
            virtual_cluster: "lab".parse().unwrap(),
            group: None,
            limited: Limited::Jobs,
            needs: 1.into(),
            running: 1.into(),
            most: 1,
        };
        let said = "In virtual cluster lab its owner may have 1 job running at once: 1 runs, and it \
                    adds 1";
        assert_eq!((english.wait)(&reason), said);
        let summary = (english.cluster.gpus_summary)(Amount::default(), 1);
        assert_eq!(summary, "0 of 1 GPU allocated");
    }
}
