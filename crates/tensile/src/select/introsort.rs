//! The order in which libstdc++'s `std::sort` leaves equal elements.
//!
//! The libraries sort their tables with it when they load them, and the first of two rows with the same key and speed
//! wins. `std::sort` is not stable, so the algorithm is part of the answer: introsort as in bits/stl_algo.h (median of
//! three, partitions of at most 16 left to a final insertion sort, heap sort at the depth limit).

const THRESHOLD: usize = 16;

pub fn sort<T, F: Fn(&T, &T) -> bool>(items: &mut [T], less: &F) {
    if items.len() < 2 {
        return;
    }
    let depth = 2 * (usize::BITS - 1 - items.len().leading_zeros());
    intro(items, depth, less);
    final_insertion(items, less);
}

fn intro<T, F: Fn(&T, &T) -> bool>(mut items: &mut [T], mut depth: u32, less: &F) {
    while items.len() > THRESHOLD {
        if depth == 0 {
            heap_sort(items, less);
            return;
        }
        depth -= 1;
        let cut = partition_pivot(items, less);
        let (left, right) = items.split_at_mut(cut);
        intro(right, depth, less);
        items = left;
    }
}

fn partition_pivot<T, F: Fn(&T, &T) -> bool>(items: &mut [T], less: &F) -> usize {
    let (mid, last) = (items.len() / 2, items.len() - 1);
    median_to_first(items, 1, mid, last, less);
    partition(items, less)
}

fn median_to_first<T, F: Fn(&T, &T) -> bool>(items: &mut [T], a: usize, b: usize, c: usize, less: &F) {
    let median = if less(&items[a], &items[b]) {
        if less(&items[b], &items[c]) {
            b
        } else if less(&items[a], &items[c]) {
            c
        } else {
            a
        }
    } else if less(&items[a], &items[c]) {
        a
    } else if less(&items[b], &items[c]) {
        c
    } else {
        b
    };
    items.swap(0, median);
}

/// Unguarded: the median at the front stops both walks. The bounds only matter for an invalid order (NaN).
fn partition<T, F: Fn(&T, &T) -> bool>(items: &mut [T], less: &F) -> usize {
    let (mut first, mut last) = (1, items.len());
    loop {
        while first < items.len() && less(&items[first], &items[0]) {
            first += 1;
        }
        last -= 1;
        while last > 0 && less(&items[0], &items[last]) {
            last -= 1;
        }
        if first >= last {
            return first.min(items.len() - 1).max(1);
        }
        items.swap(first, last);
        first += 1;
    }
}

fn final_insertion<T, F: Fn(&T, &T) -> bool>(items: &mut [T], less: &F) {
    let guarded = items.len().min(THRESHOLD);
    for at in 1..guarded {
        if less(&items[at], &items[0]) {
            items[..=at].rotate_right(1);
        } else {
            insert(items, at, less);
        }
    }
    for at in guarded..items.len() {
        insert(items, at, less);
    }
}

fn insert<T, F: Fn(&T, &T) -> bool>(items: &mut [T], at: usize, less: &F) {
    let mut to = at;
    while to > 0 && less(&items[at], &items[to - 1]) {
        to -= 1;
    }
    items[to..=at].rotate_right(1);
}

fn heap_sort<T, F: Fn(&T, &T) -> bool>(items: &mut [T], less: &F) {
    for parent in (0..items.len() / 2).rev() {
        adjust(items, parent, items.len(), less);
    }
    for end in (1..items.len()).rev() {
        items.swap(0, end);
        adjust(items, 0, end, less);
    }
}

/// `__adjust_heap`: the hole sinks to a leaf first, then the value rises from there.
fn adjust<T, F: Fn(&T, &T) -> bool>(items: &mut [T], top: usize, len: usize, less: &F) {
    let mut hole = top;
    let mut child = hole;
    while len > 0 && child < (len - 1) / 2 {
        child = 2 * (child + 1);
        if less(&items[child], &items[child - 1]) {
            child -= 1;
        }
        items.swap(hole, child);
        hole = child;
    }
    if len.is_multiple_of(2) && len >= 2 && child == (len - 2) / 2 {
        child = 2 * (child + 1);
        items.swap(hole, child - 1);
        hole = child - 1;
    }
    while hole > top {
        let parent = (hole - 1) / 2;
        if !less(&items[parent], &items[hole]) {
            break;
        }
        items.swap(parent, hole);
        hole = parent;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The order of the tags, hashed (FNV-1a), after a sort by the keys alone.
    fn order(mut items: Vec<(u32, u32)>) -> u64 {
        sort(&mut items, &|a, b| a.0 < b.0);
        assert!(items.is_sorted_by_key(|item| item.0));
        items.iter().fold(0xcbf2_9ce4_8422_2325, |hash, item| (hash ^ u64::from(item.1)).wrapping_mul(0x100_0000_01b3))
    }

    fn random(count: u32, modulus: u32) -> Vec<(u32, u32)> {
        let mut state = 1u32;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 16) % modulus
        };
        (0..count).map(|tag| (next(), tag)).collect()
    }

    /// A median-of-three killer: every partition is lopsided, so that the heap sort has to finish.
    fn killer(count: u32) -> Vec<(u32, u32)> {
        let half = count / 2;
        let mut keys = vec![0; count as usize];
        for i in 1..=half {
            if i % 2 == 1 {
                keys[i as usize - 1] = i;
                keys[i as usize] = half + i;
            }
            keys[(half + i) as usize - 1] = 2 * i;
        }
        keys.iter().map(|key| key / 2).zip(0..).collect()
    }

    #[test]
    fn equal_keys_end_in_the_order_of_libstdcxx() {
        // The hashes were printed by a C++ program that sorts the same lists with g++ 12's std::sort.
        assert_eq!(order(random(10, 3)), 0xbde6_7131_441b_af44);
        assert_eq!(order(random(40, 4)), 0x2036_1ec3_83d7_fcbd);
        assert_eq!(order(random(1000, 7)), 0xb827_aa60_d1b4_ec01);
        assert_eq!(order(random(4667, 50)), 0x9b0e_2332_b06b_c03a);
        assert_eq!(order(killer(2000)), 0x2739_4d94_e6ec_0f0d);
    }

    #[test]
    fn an_order_that_is_none_neither_panics_nor_hangs() {
        let mut items: Vec<f64> = (0..300).map(|i| if i % 3 == 0 { f64::NAN } else { f64::from(i % 17) }).collect();
        sort(&mut items, &|a, b| a < b || a.is_nan());
        assert_eq!(items.len(), 300);
    }
}
