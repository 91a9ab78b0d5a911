package engine

// MaxMarks is how many boundaries of a prompt are remembered for the next turn
// (design section 4).
const MaxMarks = 64

// Mark is a boundary of a prompt: after its tools, after its system text, after
// each message.
type Mark struct {
	Index int32  // of the boundary, counted from the prompt's beginning
	Hash  uint64 // of everything before it
	Bytes int64  // before it
}

// Prefix is the boundaries of one prompt, first to last. Two prompts that begin
// alike have equal marks as far as they do; cache markers and an agent's telemetry
// lines do not count.
type Prefix []Mark

// Kept is what is worth remembering of a prefix until the next turn: its last
// boundaries, which a conversation that goes on or is cut back a little passes
// through, and earlier ones ever wider apart. It shares no memory with p.
func (p Prefix) Kept() Prefix {
	if len(p) == 0 {
		return nil
	}
	kept := make(Prefix, 0, min(len(p), MaxMarks))
	if len(p) <= MaxMarks {
		return append(kept, p...)
	}
	const near = MaxMarks * 3 / 4
	far := p[:len(p)-near]
	for i := range MaxMarks - near {
		kept = append(kept, far[i*len(far)/(MaxMarks-near)])
	}
	return append(kept, p[len(p)-near:]...)
}

// Since says how much of an earlier prompt this one begins with, in bytes, and how
// many bytes the earlier one had. kept is total where the earlier prompt is a
// beginning of this one, and 0 where they part before the first boundary that is
// remembered. Without an earlier prompt, both are 0.
func (p Prefix) Since(earlier Prefix) (kept, total int64) {
	if len(earlier) == 0 {
		return 0, 0
	}
	total = earlier[len(earlier)-1].Bytes
	for i := len(earlier) - 1; i >= 0; i-- {
		m := earlier[i]
		if int(m.Index) < len(p) && p[m.Index].Hash == m.Hash && p[m.Index].Bytes == m.Bytes {
			return m.Bytes, total
		}
	}
	return 0, total
}
