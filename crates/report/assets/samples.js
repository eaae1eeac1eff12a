// samples
