//! Writing a CRUSH map.

use sepiola_wire::{Encode, Features, Put};

use super::{Bucket, BucketKind, CrushMap, Rule, decode::MAGIC};

impl Encode for CrushMap {
    fn encode(&self, out: &mut Vec<u8>, features: Features) {
        out.put_u32(MAGIC);
        out.put_len(self.buckets.len());
        out.put_len(self.rules.len());
        out.put_i32(self.max_devices);
        for bucket in &self.buckets {
            match bucket {
                None => out.put_u32(0),
                Some(bucket) => encode_bucket(bucket, out, features),
            }
        }
        for (number, rule) in self.rules.iter().enumerate() {
            out.put_u32(rule.is_some().into());
            if let Some(rule) = rule {
                encode_rule(rule, number, out);
            }
        }
        self.type_names.encode(out, features);
        self.item_names.encode(out, features);
        self.rule_names.encode(out, features);
        let tunables = &self.tunables;
        out.put_u32(tunables.choose_local_tries);
        out.put_u32(tunables.choose_local_fallback_tries);
        out.put_u32(tunables.choose_total_tries);
        out.put_u32(tunables.chooseleaf_descend_once);
        out.put_u8(tunables.chooseleaf_vary_r);
        out.put_u8(tunables.straw_calc_version);
        out.put_u32(tunables.allowed_bucket_algs);
        out.put_u8(tunables.chooseleaf_stable);
        self.item_classes.encode(out, features);
        self.class_names.encode(out, features);
        self.class_buckets.encode(out, features);
        out.put_len(self.choose_args.len());
        for (index, args) in &self.choose_args {
            out.put_i64(*index);
            out.put_len(args.0.len());
            for (slot, arg) in &args.0 {
                out.put_u32(*slot);
                arg.weight_set.encode(out, features);
                arg.ids.encode(out, features);
            }
        }
        if features.has(Features::CRUSH_MSR) {
            out.put_u32(tunables.msr_descents);
            out.put_u32(tunables.msr_collision_tries);
        }
    }
}

fn encode_bucket(bucket: &Bucket, out: &mut Vec<u8>, features: Features) {
    let alg = bucket.kind.alg() as u8;
    out.put_u32(alg.into());
    out.put_i32(bucket.id);
    out.put_u16(bucket.type_id);
    out.put_u8(alg);
    out.put_u8(0);
    out.put_u32(bucket.weight);
    bucket.items.encode(out, features);
    match &bucket.kind {
        BucketKind::Uniform { item_weight } => out.put_u32(*item_weight),
        BucketKind::List { item_weights: first, sum_weights: second }
        | BucketKind::Straw { item_weights: first, straws: second } => {
            for (first, second) in first.iter().zip(second) {
                out.put_u32(*first);
                out.put_u32(*second);
            }
        }
        BucketKind::Tree { node_weights } => {
            // Decoded as a byte; an editor cannot build larger trees either.
            out.put_u8(node_weights.len() as u8);
            node_weights.iter().for_each(|weight| out.put_u32(*weight));
        }
        BucketKind::Straw2 { item_weights } => item_weights.iter().for_each(|weight| out.put_u32(*weight)),
    }
}

fn encode_rule(rule: &Rule, number: usize, out: &mut Vec<u8>) {
    out.put_len(rule.steps.len());
    // The ruleset, which must equal the number; rules are numbered below 256.
    out.put_u8(number as u8);
    out.put_u8(rule.kind.0);
    out.put_u8(rule.min_size);
    out.put_u8(rule.max_size);
    for step in &rule.steps {
        out.put_u32(step.op);
        out.put_i32(step.arg1);
        out.put_i32(step.arg2);
    }
}
