use leptos::prelude::*;
use protocol::amount::Amount;
use protocol::ids::GpuType;

use crate::number;
use crate::parts::meter::Meter;

/// How many GPUs of a type are used, parts of them counted as parts.
#[component]
pub(crate) fn GpuMeter(kind: GpuType, used: Amount, total: Amount) -> impl IntoView {
    view! {
        <Meter
            used=used.milli()
            total=total.milli()
            amount=number::thousandths
            label=kind.to_string()
        />
    }
}
