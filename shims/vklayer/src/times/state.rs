//! The bookkeeping of timed command buffers.

use super::*;

impl State {
    pub(super) fn at(&self, command: Handle) -> Option<usize> {
        let first = place_of(command as usize);
        (0..REACH).map(|step| (first + step) % MOST_BUFFERS).find(|at| self.buffers.get(*at).is_some_and(|of| of.handle == command as usize))
    }

    pub(super) fn wait_for(&mut self, pending: Pending) {
        match self.pending.get_mut(self.waiting) {
            Some(to) => {
                *to = pending;
                self.waiting += 1;
            }
            None => say(7, b"timestamps: more submissions under way than are kept"),
        }
    }

    pub(super) fn drop_pending(&mut self, which: impl Fn(&Pending) -> bool) {
        let mut kept = 0;
        for at in 0..self.waiting {
            let Some(of) = self.pending.get(at).copied() else { break };
            if !which(&of) {
                if let Some(to) = self.pending.get_mut(kept) {
                    *to = of;
                }
                kept += 1;
            }
        }
        self.waiting = kept;
    }

    /// If work of the buffer ended unread, the program learned of its end in another way; otherwise it could not begin
    /// the buffer again.
    pub(super) fn renew(&mut self, command: Handle) {
        let Some(place) = self.at(command) else { return };
        for at in 0..self.waiting {
            let Some(of) = self.pending.get(at).copied().filter(|of| of.buffer == command as usize) else { continue };
            self.tell(place, of.buffer, of.number);
        }
        self.drop_pending(|of| of.buffer == command as usize);
        if let Some(of) = self.buffers.get_mut(place) {
            of.count = 0;
            of.fresh = 0;
        }
    }

    pub(super) fn forget(&mut self, command: Handle) {
        self.renew(command);
        let Some(place) = self.at(command) else { return };
        let Some(of) = self.buffers.get_mut(place) else { return };
        of.handle = 0;
        let (count, list) = (core::mem::take(&mut of.pools) as usize, of.pool);
        for number in list.iter().take(count) {
            if let Some(pool) = self.pools.get_mut(*number as usize) {
                pool.taken = false;
            }
        }
    }

    /// SAFETY: the program's own command buffer, which it is recording.
    pub(super) unsafe fn stamp(&mut self, command: Handle) -> Option<Timed> {
        let place = self.at(command)?;
        let of = *self.buffers.get(place)?;
        let (chunk, slot) = (of.count as usize / PAIRS, of.count as usize % PAIRS);
        if chunk >= MOST_OF_BUFFER {
            say(8, b"timestamps: more dispatches in a command buffer than are timed");
            return None;
        }
        let functions = self.devices.get(of.device as usize)?.functions?;
        if chunk >= of.pools as usize {
            let Some(number) = self.pool(of.device) else {
                say(9, b"timestamps: no query pool is to be had");
                return None;
            };
            let buffer = self.buffers.get_mut(place)?;
            *buffer.pool.get_mut(chunk)? = number;
            buffer.pools += 1;
        }
        let buffer = self.buffers.get_mut(place)?;
        let pool = self.pools.get(*buffer.pool.get(chunk)? as usize)?.handle;
        if chunk >= buffer.fresh as usize {
            buffer.fresh += 1;
            // SAFETY: as the caller says; the pool is ours and has so many.
            unsafe { (functions.reset)(command, pool, 0, 2 * PAIRS as u32) };
        }
        buffer.count += 1;
        // SAFETY: as above.
        unsafe { (functions.stamp)(command, BOTTOM, pool, 2 * slot as u32) };
        Some(Timed { number: of.count + 1, end: Some((functions.stamp, pool, 2 * slot as u32 + 1)) })
    }

    /// An unused pool, by its index.
    pub(super) fn pool(&mut self, device: u32) -> Option<u16> {
        let free = self.pools.iter().position(|of| of.handle != 0 && of.device == device && !of.taken);
        if let Some(place) = free {
            self.pools.get_mut(place)?.taken = true;
            return u16::try_from(place).ok();
        }
        let place = self.pools.iter().position(|of| of.handle == 0)?;
        let of = self.devices.get(device as usize)?;
        let info = PoolInfo {
            base: Base { kind: QUERY_POOL_CREATE_INFO, next: core::ptr::null_mut() },
            flags: 0,
            query: TIMESTAMP,
            count: 2 * PAIRS as u32,
            statistics: 0,
        };
        let mut handle = 0;
        // SAFETY: the device's own function; both live for the call.
        if unsafe { (of.functions?.create)(of.handle as Handle, &raw const info, core::ptr::null(), &raw mut handle) } != SUCCESS || handle == 0 {
            return None;
        }
        *self.pools.get_mut(place)? = Pool { handle, device, taken: true };
        u16::try_from(place).ok()
    }

    /// Reads the results of a submission, if no later submission of the same buffer can have overwritten them.
    pub(super) fn tell(&mut self, place: usize, buffer: usize, number: u32) {
        let Some(of) = self.buffers.get(place).copied().filter(|of| of.handle == buffer && of.submissions == number) else { return };
        let Some(device) = self.devices.get(of.device as usize).copied() else { return };
        let Some(functions) = device.functions else { return };
        for (chunk, first) in (0..of.count as usize).step_by(PAIRS).enumerate() {
            let count = (of.count as usize - first).min(PAIRS);
            let Some(pool) = of.pool.get(chunk).and_then(|number| self.pools.get(*number as usize)) else { return };
            self.read = [0; PAIRS * 4];
            let (len, to) = (size_of_val(&self.read), self.read.as_mut_ptr());
            // SAFETY: room for as many queries as requested; there is no wait.
            let result = unsafe { (functions.results)(device.handle as Handle, pool.handle, 0, 2 * count as u32, len, to, 16, RESULTS) };
            if result < SUCCESS {
                return say(10, b"timestamps that the driver did not give");
            }
            // Start and end of each pair; unavailable ones are skipped.
            for pair in 0..count {
                let value = |at: usize| self.read.get(at).copied().unwrap_or(0);
                let both = [value(4 * pair), value(4 * pair + 2)];
                let there = value(4 * pair + 1) != 0 && value(4 * pair + 3) != 0;
                for (at, tick) in both.into_iter().enumerate() {
                    if let Some(to) = self.read.get_mut(2 * pair + at) {
                        *to = if there { tick } else { 0 };
                    }
                }
            }
            let body = bodies::Times {
                buffer: buffer as u64,
                period: device.period,
                bits: of.bits,
                first: first as u32 + 1,
                count: count as u32,
            };
            // SAFETY: plain data, as long.
            let ticks = unsafe { core::slice::from_raw_parts(self.read.as_ptr().cast::<u8>(), count * 16) };
            write(kind::TIMES, &[bytes(&body), ticks]);
        }
    }
}
