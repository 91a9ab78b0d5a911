package catalog

import (
	"time"

	"github.com/shopspring/decimal"
)

// Config is what a config file says: how one gateway is run, and who may use it.
//
// It is only what the file states. A value that is not set leaves the word to the
// defaults, and flags and the environment come before the file; whoever starts
// the gateway settles that with [Setting.Get] and [Setting.Or]. A Config never
// changes once read.
type Config struct {
	Path   string // the file, as named by the caller
	Digest string // SHA-256 of its text in hex

	Listen   Setting[string] // host:port of the client APIs
	Admin    Setting[string] // host:port of the admin surface
	Data     Setting[string] // the folder that keeps pins and books; relative to the working directory
	Catalog  Setting[string] // the catalog file; relative to the working directory
	Open     Setting[bool]   // accept anyone who reaches an address beyond loopback
	LogLevel Setting[string] // debug, info, warn or error
	Metadata Setting[string] // body, header or off

	OnClientLeft Setting[ClientLeft]
	Drain        DrainSettings

	Affinity  AffinitySettings
	Retention RetentionSettings
	Timeouts  TimeoutSettings
	Limits    LimitSettings

	// Byok are the keys of its own of every tenant that does not say otherwise, and of
	// the one tenant that there is without Tenants.
	Byok Setting[OwnKeys]
	// Tenants are in the order of the file. None: the gateway has one tenant,
	// default, and asks for no key.
	Tenants []*Tenant
	// Warnings are what a reader should know and what does not make the file invalid.
	Warnings []Problem
}

// Setting is a value that a file may state.
//
// The zero Setting is not set.
type Setting[T any] struct {
	value T
	set   bool
}

// Set is a setting with a value.
func Set[T any](value T) Setting[T] { return Setting[T]{value, true} }

// Get is the value; ok is false where the file does not state it.
func (s Setting[T]) Get() (value T, ok bool) { return s.value, s.set }

// IsSet says whether the file states it.
func (s Setting[T]) IsSet() bool { return s.set }

// Or is the value, or otherwise where the file does not state it.
func (s Setting[T]) Or(otherwise T) T {
	if s.set {
		return s.value
	}
	return otherwise
}

// AffinitySettings are what holds for every tenant that does not say otherwise.
type AffinitySettings struct {
	ProfileSettings
	Deadline Setting[time.Duration] // how long the recall of pins may take; more than zero
	Enabled  Setting[bool]
	// Holdout is the share of sessions that run without affinity, so that what
	// affinity is worth can be measured: from 0 to 0.5, in at most six decimals.
	Holdout Setting[decimal.Decimal]
}

// ClientLeft says what becomes of a vendor's answer when its client has left.
type ClientLeft string

// What may become of it.
const (
	LeftCancel ClientLeft = "cancel" // the vendor's request is cancelled at once; its output is then not known
	LeftDrain  ClientLeft = "drain"  // it is read on within limits, so that its usage is known
)

// DrainSettings say how far an answer is read on. They hold where its client's
// leaving is answered by [LeftDrain].
type DrainSettings struct {
	Time  Setting[time.Duration] // from when the client left; more than zero
	Bytes Setting[int64]         // of the answer, unpacked, from then on
}

// RetentionSettings say how long books are kept. Forever is less than zero.
type RetentionSettings struct {
	Turns   Setting[time.Duration] // turns and sessions
	Minutes Setting[time.Duration] // sums by minute
	Hours   Setting[time.Duration] // sums by hour
}

// TimeoutSettings say how long is waited for a vendor, and at the end for turns.
type TimeoutSettings struct {
	Connect   Setting[time.Duration] // to a connection; more than zero
	FirstByte Setting[time.Duration] // from the request's start to the first event; more than zero
	Idle      Setting[time.Duration] // between two reads of an answer; more than zero
	Drain     Setting[time.Duration] // for running turns at shutdown; zero cuts them
}

// LimitSettings bound what one request may take, and how many sessions are remembered.
type LimitSettings struct {
	Body              Setting[int64] // bytes of a request's body, unpacked
	Pins              Setting[int]   // records of pins, of all tenants
	SessionsPerMinute Setting[int]   // new sessions that are pinned, of each tenant that does not say otherwise
}

// TenantLimits bound how many sessions of one tenant are remembered.
type TenantLimits struct {
	Pins              Setting[int] // records of pins
	SessionsPerMinute Setting[int] // new sessions that are pinned
}

// Profile is a named set of affinity settings that reproduces one known
// gateway's documented behaviour (design section 10).
type Profile string

// The profiles.
const (
	ProfileWarmroute    Profile = "warmroute"
	ProfileVercel       Profile = "vercel"
	ProfileOpenRouter   Profile = "openrouter"
	ProfileLiteLLM      Profile = "litellm"
	ProfilePortkey      Profile = "portkey"
	ProfileSubconscious Profile = "subconscious"
	ProfileMerge        Profile = "merge"
)

// Tenant is one party that may use the gateway with keys of its own.
type Tenant struct {
	ID    string // small letters, digits, dots, dashes and underscores; never default
	Index int    // place in the file
	Keys  []TenantKey
	ProfileSettings
	Metadata Setting[string] // body, header or off
	Affinity Setting[bool]   // remember and promote warm vendors
	Left     Setting[ClientLeft]
	Limits   TenantLimits
	Only     []string // the vendors it may use; empty: all. Whether there are such vendors, [Config.Check] says
	Byok     Setting[OwnKeys]
	Line     int

	only []entryName
}

// DefaultTenant is the one tenant of a gateway that has none configured.
const DefaultTenant = "default"

// TenantKey is one key a tenant may present, kept as its hash only.
type TenantKey struct {
	// SHA256 is the hash of the key's bytes, without white space around them. Find
	// a tenant by the hash of what was presented and compare in constant time.
	SHA256 [32]byte
	Env    string // the variable that held the key; empty where the file gives the hash
}
