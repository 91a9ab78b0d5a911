package routes

import (
	"bytes"
	"encoding/base64"
	"slices"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/warmroute/warmroute/engine"
)

// pinsShape is what is remembered of one session in one scope.
type pinsShape struct {
	Tenant  string          `json:"tenant"`
	Session *sessionShape   `json:"session"`
	Scope   *string         `json:"scope"`
	Models  []modelPinShape `json:"models"` // most recently served first
}

type modelPinShape struct {
	Model   string     `json:"model"`
	Entries []pinShape `json:"entries"` // newest acceptance first
}

// pinShape is one candidate that may hold the session's cache. What its vendor
// has not reported yet is null.
type pinShape struct {
	Vendor     string     `json:"vendor"`
	Credential *string    `json:"credential"` // null where the session's class pins the vendor only
	Group      string     `json:"group"`
	Accepted   *time.Time `json:"accepted"`
	Expires    *time.Time `json:"expires"`
	Warm       bool       `json:"warm"`          // not expired
	Prompt     *int64     `json:"prompt_tokens"` // of the prompt alone, as last reported
	Read       *int64     `json:"cache_read"`
	Write      *int64     `json:"cache_write"`
	Silent     int        `json:"silent_turns"` // in a row, with neither read nor write
}

func pinsOf(key engine.PinKey, record engine.Record, now time.Time) pinsShape {
	shape := pinsShape{
		Tenant: key.Tenant, Session: sessionOf(key.Tenant, key.Class, key.ID, ""), Scope: text(key.Scope),
		Models: make([]modelPinShape, 0, len(record.Models)),
	}
	for _, m := range record.Models {
		pins := modelPinShape{Model: m.Model, Entries: make([]pinShape, 0, len(m.Warm))}
		for _, e := range m.Warm {
			pin := pinShape{
				Vendor: e.Vendor, Credential: text(e.Credential), Group: groupOf(e.Group),
				Accepted: instant(e.AcceptedAt), Expires: instant(e.ExpiresAt), Warm: !e.ExpiredAt(now), Silent: e.Silent,
			}
			if e.Reported {
				pin.Prompt, pin.Read, pin.Write = &e.Prompt, &e.Read, &e.Write
			}
			pins.Entries = append(pins.Entries, pin)
		}
		shape.Models = append(shape.Models, pins)
	}
	return shape
}

// pinQuery is which records are meant.
type pinQuery struct{ tenant, class, session, model, vendor string }

func (q *pinQuery) matches(key *engine.PinKey, record *engine.Record) bool {
	switch {
	case key.Aside(),
		q.tenant != "" && key.Tenant != q.tenant,
		q.class != "" && string(key.Class) != q.class,
		q.session != "" && key.ID != q.session:
		return false
	case q.model == "" && q.vendor == "":
		return true
	}
	for i := range record.Models {
		m := &record.Models[i]
		if q.model != "" && m.Model != q.model {
			continue
		}
		if q.vendor == "" || slices.ContainsFunc(m.Warm, func(e engine.Entry) bool { return e.Vendor == q.vendor }) {
			return true
		}
	}
	return false
}

// placed is one record and the stored form of its key, which orders the list.
type placed struct {
	at     []byte
	key    engine.PinKey
	record engine.Record
}

// firsts are the records that come first after a place, no more than size and
// one: that one says that there are more. It looks at every record and keeps few.
type firsts struct {
	after []byte // nil: the beginning
	size  int
	list  []placed
}

func (f *firsts) add(key engine.PinKey, record engine.Record) {
	at := key.Bytes()
	if f.after != nil && bytes.Compare(at, f.after) <= 0 {
		return
	}
	f.list = append(f.list, placed{at, key, record})
	if len(f.list) > 4*(f.size+1) {
		f.trim()
	}
}

func (f *firsts) trim() {
	slices.SortFunc(f.list, func(a, b placed) int { return bytes.Compare(a.at, b.at) })
	if len(f.list) > f.size+1 {
		clear(f.list[f.size+1:])
		f.list = f.list[:f.size+1]
	}
}

// pinList is a page of what is remembered.
type pinList struct {
	Pins []pinsShape `json:"pins"`
	Next *string     `json:"next"`
}

// pins lists records by tenant, class, id and scope. Those that say who made a
// response are no pins and are left out.
func (a *api) pins(c *gin.Context, asked asked) {
	class, err := classOf(asked.get("class"))
	if err != nil {
		troubled(c, err)
		return
	}
	page, err := asked.page()
	if err != nil {
		troubled(c, err)
		return
	}
	q := pinQuery{asked.get("tenant"), string(class), asked.get("session"), asked.get("model"), asked.get("vendor")}
	list := firsts{size: page.Size()}
	if page.After != "" {
		at, err := base64.RawURLEncoding.Strict().DecodeString(page.After)
		if _, ok := engine.ParsePinKey(at); err != nil || !ok {
			troubled(c, engine.ErrPage)
			return
		}
		list.after = at
	}
	ctx := c.Request.Context()
	err = a.Pins(ctx, func(key engine.PinKey, record engine.Record) bool {
		if q.matches(&key, &record) {
			list.add(key, record)
		}
		return ctx.Err() == nil
	})
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		troubled(c, err)
		return
	}
	list.trim()
	var next string
	if len(list.list) > list.size {
		list.list = list.list[:list.size]
		next = base64.RawURLEncoding.EncodeToString(list.list[list.size-1].at)
	}
	now := a.Now()
	shapes := make([]pinsShape, 0, len(list.list))
	for _, f := range list.list {
		shapes = append(shapes, pinsOf(f.key, f.record, now))
	}
	answer(c, pinList{shapes, text(next)})
}
