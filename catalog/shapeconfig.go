package catalog

// configShape is the whole config file.
type configShape struct {
	// host:port of the client APIs.
	Listen hostPort `yaml:"listen,omitempty" default:"127.0.0.1:8080"`
	// host:port of the dashboard, the metrics and the health checks.
	Admin hostPort `yaml:"admin,omitempty" default:"127.0.0.1:9090"`
	// The folder that keeps pins and books; relative to the working directory.
	Data text `yaml:"data,omitempty" default:"./data"`
	// The catalog file; relative to the working directory.
	Catalog text `yaml:"catalog,omitempty" default:"catalog.yaml"`
	// Accept anyone who reaches an address beyond loopback.
	Open bool `yaml:"open,omitempty" default:"false"`
	// What is written to the log, and what is worse.
	LogLevel logLevelWord `yaml:"log_level,omitempty" default:"info"`
	// Where the routing metadata goes.
	Metadata metadataWord `yaml:"metadata,omitempty" default:"body"`
	// Whether a vendor is cancelled when its client leaves, or its answer is read on within the limits of drain, so that its usage is known.
	OnClientLeft clientLeftWord `yaml:"on_client_left,omitempty" default:"cancel"`
	// How far an answer is read on without its client, where that is asked for.
	Drain drainShape `yaml:"drain,omitempty"`
	// What holds for every tenant that does not say otherwise.
	Affinity affinitySettingsShape `yaml:"affinity,omitempty"`
	// How long the books are kept: 400d, 72h or forever.
	Retention retentionShape `yaml:"retention,omitempty"`
	// How long is waited for a vendor, and at the end for turns.
	Timeouts timeoutsShape `yaml:"timeouts,omitempty"`
	// What one request may take, and how many sessions are remembered.
	Limits limitsShape `yaml:"limits,omitempty"`
	// Callers' own keys for vendors, where a tenant does not say otherwise: true where they may come with requests, or more of it.
	Byok either[bool, byokShape] `yaml:"byok,omitempty"`
	// Who may use the gateway. Without tenants there is one, default, and no key is asked for.
	Tenants []tenantShape `yaml:"tenants,omitempty" least:"1"`
}

type affinitySettingsShape struct {
	profileSettingsShape
	// How long the recall of pins may take, from 1ms to 1s.
	Deadline text `yaml:"deadline,omitempty" default:"5ms"`
	// Remember warm vendors and put them first.
	Enabled bool `yaml:"enabled,omitempty" default:"true"`
	// The share of sessions that run without affinity, so that it can be measured: from 0 to 0.5.
	Holdout shareText `yaml:"holdout,omitempty" default:"0"`
}

// profileSettingsShape is a profile and what goes before its own values.
type profileSettingsShape struct {
	// Whose documented behaviour is reproduced; warmroute unless said.
	Profile profileWord `yaml:"profile,omitempty"`
	// The test a warm route must pass to be put first; the profile's unless said.
	Gate gateWord `yaml:"gate,omitempty"`
	// What counts more: the warm route, or an explicit order; the profile's unless said.
	Precedence precedenceWord `yaml:"precedence,omitempty"`
	// Whether sub-agents share their parent's warm vendor and cache key; the profile's unless said.
	Subagents subagentsWord `yaml:"subagents,omitempty"`
	// What may name a session, the first choice first; the profile's unless said.
	Sources []sourceWord `yaml:"sources,omitempty" least:"1"`
	// LiteLLM's checks, which switch its affinity on. Only with profile: litellm.
	Checks []checkWord `yaml:"checks,omitempty"`
	// Portkey's sticky sessions. Only with profile: portkey.
	Sticky stickyShape `yaml:"sticky,omitempty"`
}

type stickyShape struct {
	// Whether sessions stick to the target they were given.
	Enabled bool `yaml:"enabled,omitempty" default:"false"`
	// Fields of the request's body that name a session together, such as metadata.user.
	HashFields []nameText `yaml:"hash_fields,omitempty" least:"1"`
	// How long a session sticks, from 1s to 1d.
	TTL text `yaml:"ttl,omitempty" default:"1h"`
}

type tenantAffinityShape struct {
	profileSettingsShape
	// Remember warm vendors and put them first.
	Enabled bool `yaml:"enabled,omitempty"`
}

type drainShape struct {
	// From when the client left, from 10ms to 10m.
	Time text `yaml:"time,omitempty" default:"30s"`
	// Of the answer from then on, unpacked: a number, or 1MiB, from 1KiB to 1GiB.
	Bytes sizeText `yaml:"bytes,omitempty" default:"1MiB"`
}

type retentionShape struct {
	// Turns and sessions.
	Turns text `yaml:"turns,omitempty"`
	// Sums by minute.
	Minutes text `yaml:"minutes,omitempty"`
	// Sums by hour.
	Hours text `yaml:"hours,omitempty"`
}

type timeoutsShape struct {
	// To a connection.
	Connect text `yaml:"connect,omitempty"`
	// From the request's start to the first event; agents wait long.
	FirstByte text `yaml:"first_byte,omitempty"`
	// Between two reads of an answer.
	Idle text `yaml:"idle,omitempty"`
	// For running turns at shutdown; 0s cuts them.
	Drain text `yaml:"drain,omitempty"`
}

type limitsShape struct {
	// Bytes of a request's body, unpacked: a number, or 32MiB, from 1KiB to 1GiB.
	Body sizeText `yaml:"body,omitempty"`
	// Records of pins that are remembered, of all tenants: one for each session, and one for each response that may be continued.
	Pins manyCount `yaml:"pins,omitempty" default:"1000000"`
	// New sessions in a minute that are pinned, of each tenant that does not say otherwise; further ones are served without. Any number unless said.
	SessionsPerMinute manyCount `yaml:"sessions_per_minute,omitempty"`
}

type tenantLimitsShape struct {
	// Of the records of pins, how many may be this tenant's; beyond them its own longest idle goes. An equal share of what others do not claim unless said.
	Pins manyCount `yaml:"pins,omitempty"`
	// New sessions in a minute that are pinned; further ones are served without.
	SessionsPerMinute manyCount `yaml:"sessions_per_minute,omitempty"`
}

type tenantShape struct {
	// A short name, such as desk; never default.
	ID tenantID `yaml:"id"`
	// The keys it may present.
	Keys []keyShape `yaml:"keys" least:"1"`
	// A named set of affinity settings.
	Profile profileWord `yaml:"profile,omitempty"`
	// The test a warm route must pass to be put first.
	Gate gateWord `yaml:"gate,omitempty"`
	// Where the routing metadata goes.
	Metadata metadataWord `yaml:"metadata,omitempty"`
	// The vendors it may use; all unless said.
	Only []nameText `yaml:"only,omitempty" least:"1"`
	// Remember warm vendors and put them first: true or false, or what goes before the profile's own values.
	Affinity either[bool, tenantAffinityShape] `yaml:"affinity,omitempty"`
	// Whether a vendor is cancelled when its client leaves, or its answer is read on.
	OnClientLeft clientLeftWord `yaml:"on_client_left,omitempty"`
	// Keys of its own for vendors, which go before the operator's: true where they may come with its requests, or more of it.
	Byok either[bool, byokShape] `yaml:"byok,omitempty"`
	// How many sessions of this tenant are remembered.
	Limits tenantLimitsShape `yaml:"limits,omitempty"`
}

type byokShape struct {
	// Whether keys may come with requests: as x-warmroute-key-<vendor>, or in providerOptions.gateway.byok.
	Requests bool `yaml:"requests,omitempty" default:"false"`
	// Serve with these keys only, never with the operator's.
	Only bool `yaml:"only,omitempty" default:"false"`
	// Keys that are kept here, by vendor; those that come with a request go before them.
	Keys map[anyName]ownKeyShape `yaml:"keys,omitempty" least:"1"`
}

type ownKeyShape struct {
	// The environment variable that holds the key.
	Env envName `yaml:"env,omitempty" exactly:"one"`
	// The file that holds the key; relative to the working directory.
	File text `yaml:"file,omitempty" exactly:"one"`
}

type keyShape struct {
	// The environment variable that holds the key.
	Env envName `yaml:"env,omitempty" exactly:"one"`
	// The SHA-256 of the key, 64 hexadecimal digits.
	SHA256 sumText `yaml:"sha256,omitempty" exactly:"one"`
}
