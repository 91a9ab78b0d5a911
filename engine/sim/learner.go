package sim

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/warmroute/warmroute/engine"
)

// learnerDays is how many days count: prices, vendors and clients change, and a week
// has each of its days in it.
const learnerDays = 7

// Learner keeps in memory what the turns of the last seven days, in UTC, have shown of
// each route, and those of the last six hours of its speed: it is an [engine.Learner].
// It reads the accounts that an [Auditor] wrote, and the newest turns themselves, so
// what was learned outlives the process; nothing is known before the first
// [Learner.Refresh]. All tenants' turns count: a cache does not know whose prompt it
// holds. A Learner may be used from several goroutines, but refreshed from one only.
type Learner struct {
	Books engine.Books
	Now   func() time.Time // nil means time.Now

	days   map[time.Time]map[routeName]Learned // by the start of the day
	speeds speeds
	asked  time.Time // when they were read
	facts  atomic.Pointer[map[routeName]facts]
}

type routeName struct{ model, vendor string }

// facts are what is known of a route, and when it was shown.
type facts struct {
	hits  engine.HitRate
	seen  []Aged // day by day
	speed engine.Speed
}

// Refresh reads what has been booked since it was last called. The error is that of
// the books; what was known before stays known.
func (l *Learner) Refresh(ctx context.Context) error {
	now := time.Now
	if l.Now != nil {
		now = l.Now
	}
	at := now().UTC()
	today := at.Truncate(engine.Day)
	days := make(map[time.Time]map[routeName]Learned, learnerDays)
	for back := range learnerDays {
		day := today.AddDate(0, 0, -back)
		// A turn is booked when it ends, some hours after its day perhaps.
		if known, ok := l.days[day]; ok && !l.asked.Before(day.Add(2*engine.Day)) {
			days[day] = known
			continue
		}
		read, err := l.read(ctx, day)
		if err != nil {
			return fmt.Errorf("what routes have shown cannot be read: %w", err)
		}
		days[day] = read
	}
	fast, err := readSpeeds(ctx, l.Books, l.speeds, l.asked, at)
	if err != nil {
		return err
	}
	all := map[routeName]facts{}
	for route, answers := range fast {
		all[route] = facts{speed: speed(answers)}
	}
	for back := range learnerDays {
		day := today.AddDate(0, 0, -back)
		end := day.Add(engine.Day)
		if end.After(at) {
			end = at
		}
		age := at.Sub(day.Add(end.Sub(day) / 2)) // of its middle
		for route, seen := range days[day] {
			f := all[route]
			f.hits.Turns += seen.Turns
			f.hits.Read += seen.Read
			f.hits.Prompt += seen.Prompt
			f.seen = append(f.seen, Aged{seen, age})
			all[route] = f
		}
	}
	l.days, l.speeds, l.asked = days, fast, at
	l.facts.Store(&all)
	return nil
}

// read is what the turns of one day have shown.
func (l *Learner) read(ctx context.Context, day time.Time) (map[routeName]Learned, error) {
	accounts, err := l.Books.Accounts(ctx, engine.Query{From: day, To: day.Add(engine.Day)}, engine.Day)
	if err != nil {
		return nil, err
	}
	read := make(map[routeName]Learned, len(accounts.Routes))
	for i := range accounts.Routes {
		r := &accounts.Routes[i]
		var account Account
		if account.UnmarshalBinary(r.Account) == nil && r.Vendor != "" {
			read[routeName{r.Model, r.Vendor}] = account.Learned
		}
	}
	return read, nil
}

// Run refreshes at once and then every so often, until ctx ends. complain is told of
// what goes wrong; it may be nil.
func (l *Learner) Run(ctx context.Context, every time.Duration, complain func(error)) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		if err := l.Refresh(ctx); err != nil && ctx.Err() == nil && complain != nil {
			complain(err)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// of is what is known of a route; zero if nothing is.
func (l *Learner) of(model, vendor string) facts {
	all := l.facts.Load()
	if all == nil {
		return facts{}
	}
	return (*all)[routeName{model, vendor}]
}

// HitRate is the token hit rate of a model at a vendor.
func (l *Learner) HitRate(model, vendor string) engine.HitRate { return l.of(model, vendor).hits }

// Speed is how fast a model at a vendor answered in the last six hours: the newest 255
// answers that were served, streams for the first byte, and for the rate those of 64
// output tokens or more.
func (l *Learner) Speed(model, vendor string) engine.Speed { return l.of(model, vendor).speed }

// Survival is the probability that a live entry of a route is found: see [Survival].
func (l *Learner) Survival(model, vendor string) Chance {
	return Survival(l.of(model, vendor).seen...)
}

// Held is the probability that a prefix which a route last used so long ago is still
// there: see [Held].
func (l *Learner) Held(model, vendor string, age, claim time.Duration) Chance {
	return Held(age, claim, l.of(model, vendor).seen...)
}

var _ engine.Learner = (*Learner)(nil)
