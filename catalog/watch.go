package catalog

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"
)

const (
	// settle is how long a file must be left alone before it is read: an editor
	// writes in several steps.
	settle = 50 * time.Millisecond
	// longestSettle is how long it may be kept waiting for that.
	longestSettle = 100 * time.Millisecond
	// poll is how often the file is looked at where no event tells of a change,
	// as on network file systems or behind a link into another folder.
	poll = 2 * time.Second
)

// Watch reloads the catalog whenever its file changes, until ctx is done, and
// then returns nil.
//
// onChange, which may be nil, is called from one goroutine after every reload
// that changed the status: another catalog is in force, or a file was rejected,
// or a rejected one was put right. The folder is watched, not the file, because
// editors and config maps put another file in its place. Where the system gives
// no events, a look every two seconds stands in. The error says that the folder
// cannot be found.
func (l *Live) Watch(ctx context.Context, onChange func(Status)) error {
	folder := filepath.Dir(l.path)
	if _, err := os.Stat(folder); err != nil {
		return err
	}
	var events chan fsnotify.Event
	var faults chan error
	watcher, err := fsnotify.NewWatcher()
	if err == nil {
		defer watcher.Close()
		events, faults = watcher.Events, watcher.Errors
		_ = watcher.Add(folder) // tried again at every look
	}
	w := &watch{live: l, onChange: onChange}
	w.look(true) // what changed before the folder was watched
	ticks := time.NewTicker(poll)
	defer ticks.Stop()
	quiet := time.NewTimer(0)
	defer quiet.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case event, open := <-events:
			if !open {
				events = nil
				continue
			}
			if wait, start := w.due(w.concerns(event), time.Now()); start {
				quiet.Reset(wait)
			}
		case _, open := <-faults: // an overflow: the next look finds what was missed
			if !open {
				faults = nil
			}
		case <-quiet.C:
			w.look(w.touched)
			w.touched, w.since = false, time.Time{}
		case <-ticks.C:
			if watcher != nil {
				_ = watcher.Add(folder) // the folder itself may have been replaced
			}
			w.look(false)
		}
	}
}

// watch is what one Watch remembers.
type watch struct {
	live     *Live
	onChange func(Status)
	seen     os.FileInfo // of the file that was read last; nil if there was none
	touched  bool        // an event named the file since the last look
	since    time.Time   // of the first event since then that meant a change; zero if none did
}

// concern is what an event means for the file.
type concern int

const (
	nothing concern = iota
	changed         // the file is another than the one read last
	touched         // it was written, or a link on the way to it was
)

// due says how long to wait before the file is read, and whether to begin that
// wait anew. Only writing to the file itself does, and not for ever: what else is
// written in its folder, such as a log, must not put the reading off.
func (w *watch) due(c concern, now time.Time) (wait time.Duration, start bool) {
	first := w.since.IsZero()
	switch {
	case c == nothing, c == changed && !first:
		return 0, false
	case first:
		w.since = now
	}
	return min(settle, max(w.since.Add(longestSettle).Sub(now), 0)), true
}

// concerns says whether an event may mean that the file changed: it names the
// file, or a link on the way to it such as a config map's ..data, or the file is
// no longer the one that was read.
func (w *watch) concerns(event fsnotify.Event) concern {
	switch {
	case w.isOurs(event.Name):
		w.touched = true
		return touched
	case event.Op == fsnotify.Chmod, !w.since.IsZero(): // a look is due already
		return nothing
	}
	if info, _ := os.Stat(w.live.path); same(info, w.seen) {
		return nothing
	}
	return changed
}

func (w *watch) isOurs(name string) bool {
	base := filepath.Base(name)
	return base == filepath.Base(w.live.path) || base == "..data"
}

// look reads the file if it is another than the one read last, or must is set.
func (w *watch) look(must bool) {
	info, _ := os.Stat(w.live.path)
	if !must && same(info, w.seen) {
		return
	}
	w.seen = info
	before := w.live.Status()
	_ = w.live.Reload(time.Now()) // the status keeps the error
	after := w.live.Status()
	if w.onChange != nil && differs(before, after) {
		w.onChange(after)
	}
}

// same says whether two looks saw one and the same content, as far as the file
// system tells.
func same(a, b os.FileInfo) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

func differs(before, after Status) bool {
	switch {
	case before.Digest != after.Digest, (before.Rejected == nil) != (after.Rejected == nil):
		return true
	case after.Rejected != nil:
		return before.Rejected.Error() != after.Rejected.Error()
	}
	return false
}
