use control::GpuOptions;
use protocol::gpus::GpuNames;

use super::Config;

impl Config {
    /// How GPUs are found and named, and what they cost.
    #[must_use]
    pub fn gpus(&self) -> GpuOptions {
        GpuOptions {
            names: GpuNames::new(&self.gpu_types),
            image: self.gpu_image.clone(),
            prices: self.gpu_prices.clone(),
            weights: self.gpu_weights.clone(),
        }
    }
}
