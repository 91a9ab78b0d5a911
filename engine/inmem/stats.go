package inmem

// Stats are the figures of a table. All but Records, Max, Bytes, Unwritten and
// Loaded count since the table was made.
type Stats struct {
	Records    int   // in memory
	Max        int   // Records is never more
	Bytes      int64 // memory the records hold
	Evicted    int64 // records that made room for others
	Swept      int64 // records whose entries all expired a day ago
	Unwritten  int64 // records not yet written to the backing
	Written    int64 // records written to the backing
	Dropped    int64 // records given up unwritten: the queue was full, or they were evicted first
	Failed     int64 // batches the backing refused; they are tried again
	Read       int64 // records taken in from the backing by Load
	Unanswered int64 // misses the backing did not answer in time while it was loaded
	Loaded     bool  // memory knows all that the backing holds
}

// Stats are the figures of now.
func (p *Pins) Stats() Stats {
	st := Stats{
		Max:        p.options.Max,
		Written:    p.counts.written.Load(),
		Failed:     p.counts.failed.Load(),
		Read:       p.counts.loaded.Load(),
		Unanswered: p.counts.unanswered.Load(),
		Loaded:     p.loaded.Load(),
		Dropped:    p.Dropped(),
		Unwritten:  p.Unwritten(),
	}
	for i := range p.shards {
		s := &p.shards[i]
		s.mu.Lock()
		st.Records += len(s.slots)
		st.Bytes += s.bytes()
		st.Evicted += s.counts.evicted
		st.Swept += s.counts.swept
		s.mu.Unlock()
	}
	return st
}

// Unwritten is the number of records accepted and not yet written to the
// backing; always 0 without one.
func (p *Pins) Unwritten() int64 {
	unwritten, _ := p.queue.figures()
	return unwritten
}

// Dropped is the number of records given up unwritten.
func (p *Pins) Dropped() int64 {
	_, dropped := p.queue.figures()
	return dropped + p.counts.unwritable.Load()
}
