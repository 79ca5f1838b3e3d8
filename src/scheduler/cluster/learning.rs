//! What is learned from the tasks that come: which are likely to come next, and what insists on which GPU types.

use std::collections::BTreeSet;

use crate::cluster::Cluster;
use crate::cluster::workload::prices::{Goods, supply};
use crate::model::Running;
use crate::numbers::gpus::Bits;
use crate::numbers::kind::Kind;
use crate::numbers::request::{Class, TaskRequest};

impl Cluster {
    /// What there is of each GPU type.
    fn supply(&self) -> Vec<Goods> {
        supply(self.kinds.iter().zip(&self.alike), self.names.types.len())
    }

    /// Learns what is lost by taking a place, and what types cost.
    pub(super) fn learn(&mut self) {
        let supply = self.supply();
        self.workload.learn(&self.guess, &supply);
        let masks: BTreeSet<Bits> = self.kinds.iter().map(Kind::type_mask).collect();
        for types in masks {
            self.workload.losses.prepare(types);
        }
        self.index.forget_scores();
    }

    /// Counts the tasks of a job that came, for the first time or again, among those that may come next.
    pub(crate) fn count(&mut self, class: &Class, first: bool) {
        for role in &class.roles {
            self.workload.count(&role.request, role.count);
            if first {
                self.workload.count_demand(&role.request, role.count);
            }
        }
    }

    /// Learns from what was counted, now and then.
    pub(crate) fn learn_if_due(&mut self) {
        if self.workload.is_due() {
            self.learn();
        } else if self.workload.prices_are_due() {
            self.learn_prices();
        }
    }

    /// Counts the tasks of a job that runs: nobody saw it come.
    pub(crate) fn saw_running(&mut self, running: &Running) {
        for (task, demand) in &running.tasks {
            let types = running.gpu_types.get(&task.role).map_or(&[][..], Vec::as_slice);
            let request = TaskRequest::of(demand, types, &self.names);
            self.workload.count(&request, 1);
            self.workload.count_demand(&request, 1);
        }
    }

    /// Learns from all that was counted until now.
    pub(crate) fn learn_whole(&mut self) {
        match self.workload.is_due() {
            true => self.learn(),
            false => self.learn_prices(),
        }
    }

    fn learn_prices(&mut self) {
        let supply = self.supply();
        if self.workload.learn_prices(&supply) {
            self.index.forget_scores();
        }
    }
}
