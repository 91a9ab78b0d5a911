package catalog

// catalogShape is the whole catalog file.
type catalogShape struct {
	// The version of this format; 1 is the only one there is.
	Version one `yaml:"version"`
	// The currency of every price in the file, three capitals.
	Currency currencyText `yaml:"currency,omitempty" default:"USD"`
	// The number of tokens every price in the file is for.
	Unit unitWord `yaml:"unit,omitempty" default:"per_million"`
	// Endpoints that serve models under your accounts, by name. The name stands in header names.
	Vendors map[slug]vendorShape `yaml:"vendors" least:"1"`
	// The public names clients ask for, and the routes that serve them.
	Models map[anyName]modelShape `yaml:"models" least:"1"`
	// Named targets a client may ask for: models in order, with filters and an ordering.
	Policies map[anyName]policyShape `yaml:"policies,omitempty"`
	// What warmroute check is not to say here: codes, each with the reason in words why it is meant, for the whole file.
	Silence map[anyName]text `yaml:"silence,omitempty"`
}

type vendorShape struct {
	// What the vendor speaks. A client's dialect is never translated.
	API []apiWord `yaml:"api" least:"1"`
	// The address up to /chat/completions, /responses or /messages.
	BaseURL addressText `yaml:"base_url"`
	// Where the key goes; a bearer token unless said.
	Auth authShape `yaml:"auth,omitempty"`
	// The accounts at this vendor. Every account has its own prompt cache.
	Credentials []credentialShape `yaml:"credentials,omitempty"`
	// Headers sent with every request; never a key.
	Headers map[anyName]scalar `yaml:"headers,omitempty"`
	// What is known of the vendor's prompt cache.
	Cache cacheShape `yaml:"cache,omitempty"`
	// What is sent to help the vendor's own cache routing.
	Hints []hintShape `yaml:"hints,omitempty"`
	// The convention in which the vendor reports usage, or a mapping of what differs from one; by its API unless said.
	Usage either[conventionWord, usageShape] `yaml:"usage,omitempty"`
	// Words that policies may ask for, such as zdr.
	Tags []nameText `yaml:"tags,omitempty"`
	// Gateway members of a request that this vendor understands; the others are cut out. prompt_cache_retention, which is never cut, says that the vendor honours it: pins then live as long as the request asks, up to an hour. cache_control, which is never cut either, says that the vendor understands cache markers in every API it speaks, as vendors of the messages API do anyway.
	Accepts []ourMember `yaml:"accepts,omitempty"`
	// Members this vendor must never be sent, such as stream_options; cache_control wherever it stands.
	Refuses []nameText `yaml:"refuses,omitempty"`
	// The address may be loopback or private, and plain http.
	AllowPrivate bool `yaml:"allow_private,omitempty" default:"false"`
	// What warmroute check is not to say here: codes, each with the reason in words why it is meant; for its routes too.
	Silence map[anyName]text `yaml:"silence,omitempty"`
}

type authShape struct {
	// The header that carries the key, such as x-api-key.
	Header text `yaml:"header,omitempty" exactly:"one"`
	// Send the key as a bearer token.
	Bearer yes `yaml:"bearer,omitempty" exactly:"one"`
}

type credentialShape struct {
	// A short name of the account.
	ID slug `yaml:"id"`
	// The environment variable that holds the key.
	Env envName `yaml:"env,omitempty" exactly:"one"`
	// The file that holds the key; a relative path counts from the catalog's folder.
	File text `yaml:"file,omitempty" exactly:"one"`
}

type cacheShape struct {
	// implicit: the vendor caches by itself; explicit: requests carry cache_control. Unless said, explicit for vendors of the messages API alone and those named anthropic, bedrock or vertex, or so and a dash; else implicit.
	Family familyWord `yaml:"family,omitempty"`
	// How long an unused entry is kept, such as 5m; more than 15s.
	TTL text `yaml:"ttl,omitempty"`
	// The fewest tokens that are cached; leave it out where none is documented.
	MinPrefix tokens `yaml:"min_prefix,omitempty"`
}

type hintShape struct {
	// The request header that carries the session.
	Header text `yaml:"header,omitempty" exactly:"one"`
	// The body member that carries it; not on the messages API.
	Member hintMemberWord `yaml:"member,omitempty" exactly:"one"`
	// Send a keyed hash of the session's id, or the id itself.
	Form formWord `yaml:"form,omitempty" default:"hashed"`
	// Only with requests of these APIs; of all unless said.
	API []apiWord `yaml:"api,omitempty" least:"1"`
}

type modelShape struct {
	// Other names of the model. Names, aliases and policies share one namespace.
	Aliases []nameText `yaml:"aliases,omitempty"`
	// The context window in tokens.
	Context tokens `yaml:"context,omitempty"`
	// Words that policies may ask for; they count for every route of the model.
	Tags []nameText `yaml:"tags,omitempty"`
	// Who serves the model, first choice first; each vendor once.
	Routes []routeShape `yaml:"routes" least:"1"`
	// What warmroute check is not to say here: codes, each with the reason in words why it is meant; for its routes too.
	Silence map[anyName]text `yaml:"silence,omitempty"`
}

type routeShape struct {
	// One of the vendors above.
	Vendor nameText `yaml:"vendor"`
	// The vendor's own id of the model.
	Model nameText `yaml:"model"`
	// What the vendor charges: one price, or a list of prices that each hold for a period of their own. What is left out is unknown, never free.
	Price either[sheetShape, []sheetShape] `yaml:"price,omitempty"`
	// What differs here from the vendor's cache.
	Cache cacheShape `yaml:"cache,omitempty"`
	// Words that policies may ask for.
	Tags []nameText `yaml:"tags,omitempty"`
	// Why the route is kept in the file and out of every plan.
	Disabled text `yaml:"disabled,omitempty"`
	// What warmroute check is not to say here: codes, each with the reason in words why it is meant.
	Silence map[anyName]text `yaml:"silence,omitempty"`
}

type policyShape struct {
	// Models to use, first choice first.
	Models []nameText `yaml:"models" least:"1"`
	// Vendors in order; the others follow. Not together with sort.
	Order []nameText `yaml:"order,omitempty"`
	// What is tried first: price, the lowest input price; blended, the lowest price of a prompt token at the hit rate that turns have shown; latency, the shortest time to the first byte, and throughput, the most output tokens per second, that the last hours' turns have shown; weighted, drawn for every turn by the weights. Not together with order.
	Sort sortWord `yaml:"sort,omitempty" without:"order"`
	// The share of turns that each vendor is tried first in, such as {alpha: 3, beta: 1}; vendors that are not named follow. Only with sort: weighted.
	Weights map[nameText]weightText `yaml:"weights,omitempty" least:"1"`
	// No other vendors.
	Only []nameText `yaml:"only,omitempty" least:"1"`
	// Not these vendors.
	Ignore []nameText `yaml:"ignore,omitempty"`
	// Routes that charge more are left out.
	MaxPrice maxPriceShape `yaml:"max_price,omitempty"`
	// Tags a route must carry, its vendor's and its model's counted.
	Tags []nameText `yaml:"tags,omitempty"`
	// What this policy says about warm routes.
	Affinity affinityShape `yaml:"affinity,omitempty"`
	// What warmroute check is not to say here: codes, each with the reason in words why it is meant.
	Silence map[anyName]text `yaml:"silence,omitempty"`
}

type maxPriceShape struct {
	// Of uncached prompt tokens.
	Input rateText `yaml:"input,omitempty"`
	// Of output tokens.
	Output rateText `yaml:"output,omitempty"`
	// Of prompt tokens read from the cache.
	CacheRead rateText `yaml:"cache_read,omitempty"`
}

type affinityShape struct {
	// The test a warm route must pass to be put first.
	Gate gateWord `yaml:"gate,omitempty" default:"cache_read"`
	// What counts more: the warm route, or the order above.
	Precedence precedenceWord `yaml:"precedence,omitempty" default:"pin"`
	// Remember warm vendors and put them first.
	Enabled bool `yaml:"enabled,omitempty" default:"true"`
	// How long the prefixes live that caching: auto marks, where the request does not say: auto is what the pauses between turns make cheaper.
	CacheTTL cacheTTLWord `yaml:"cache_ttl,omitempty" default:"auto"`
}
