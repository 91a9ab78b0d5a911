// Package conformance shows that warmroute does what other gateways document, and
// that the official clients work with it. It has tests only.
//
// TestClients… drive the official clients, Go and JavaScript, against the built
// gateway, and first against the simulated vendors alone, so that a check that no
// vendor could pass is not blamed on the gateway. The clients live beside it: go is
// a Go module of its own, js an npm package. Both fetch their dependencies, so the
// tests are left out with -short, and a set of clients whose dependencies cannot be
// reached is left out, saying so.
//
// TestConformance plays scenarios: one file for each statement of a gateway's
// public documentation that can be tested, <gateway>/<situation>.txt. It drives
// the real client APIs over HTTP, set up from the text of a config file, over
// simulated vendors. All of them are on the scenario's clock, which nothing but the
// scenario moves. README.md, which lists every statement and its scenario, is
// written by -update and compared in every run. What a gateway documents and no
// scenario can show stands in <gateway>/cannot.txt, with the reason. The folder agents
// is no gateway's: it has the conversations of coding agents, as they were seen on the
// wire, and what must become of them.
//
// # A scenario
//
//	statement: A session id in the body counts before the one in the header.
//	page: Vercel, AI Gateway Session Affinity — Identify a session
//	profile: vercel
//	catalog: two-vendors
//	apis: chat, messages, responses
//
//	> turn m
//	  header x-session-id: from-header
//	  session_id = "from-body"
//	< 200
//	  outcome no_pin
//	  vendor alpha
//	  session from-body
//
//	at 4m44s
//	> turn m
//	  header x-session-id: from-body
//	< 200
//	  outcome confirmed
//	  pinned alpha
//
// Lines that begin at the margin are headers and steps. What belongs to the line
// above is indented by two spaces, and what continues a line by four or more. A
// line that begins with # is a comment. Anything unknown is an error with its line.
//
// # Headers
//
// Up to the first blank line, each once:
//
//	statement  what the page says, in our own words, one sentence
//	page       the page, an em dash and its section
//	profile    the profile of all tenants
//	catalog    the name of a file in catalogs, or YAML on indented lines
//	affinity   optional: further members of the config file's affinity, YAML
//	tenants    optional: the config file's tenants, YAML; {env: NAME} has a key for any NAME
//	config     optional: further members of the config file, YAML
//	speeds     optional: what turns have shown of vendors, YAML, such as alpha: {first_byte: 900ms, rate: 40}
//	apis       optional: some of chat, messages, responses; it is played once with each
//
// A catalog is one of warmroute's, in which a vendor needs nothing: version, api (all
// three), credentials (main) and base_url are filled in. credentials are written as
// ids, [main, spare]. Vendors are simulated with the cache of their catalog entry.
//
// # Steps
//
//	at 4m44s                      the time since the start; it does not run backwards, and only this moves it
//	tenant red                    who asks from here on, by its first key; without this the first tenant
//	tenant red key RED_KEY_2      the same by another key
//	fault alpha 503               alpha answers its next request with this status
//	fault alpha 503 x3            its next three
//	fault alpha/spare 401         its next request with the credential spare
//	fault alpha cut               its next answer breaks off in the middle
//	fault alpha {"status": 429, "retry_after": "30"}   any fault of package vendorsim
//	answer alpha {JSON}           its next answer is this, whole
//	catalog NAME                  another shared catalog is in force from here on
//	let tools = [{…}]             from here on {{tools}} stands for this text
//	store stalled                 the pin store does not answer in time, until: store back
//
// # Requests
//
//	> chat m           a request to this API for a model or policy; messages, responses
//	> turn m           the same with the API that is played, of the header apis
//	> POST /v1/embeddings    or GET or HEAD: a path of its own; it may have header and body lines only
//
// Below it, in any order:
//
//	header x-session-id: S
//	session_id = "S"                                a member of the body, as JSON
//	providerOptions.gateway.order = ["beta"]        inside objects
//	system: You are a clerk.                        also developer, user and assistant
//	user cached: Read this.                         with a cache marker; or: user cached 1h: …
//	call c1 look_up {"q": "tide"}                   the assistant calls a tool
//	result c1: High at noon.
//	tool look_up: Looks things up. {"type": "object"}    a tool: name, description, schema; or: tool look_up cached: …
//	body {JSON}                                     the whole body as it is, in place of all that
//
// The conversation is put into the API's dialect. Without any line of it, it is
// "system: {{text 8000}}", which are 2,000 tokens, and "user: Begin the task." A
// request without a session id is therefore the same conversation each time. The
// gateway takes all strings of a conversation for text: "user" and 4,092 bytes are
// the 1,024 tokens that a minimum may ask for.
//
// In texts, headers and JSON:
//
//	{{text 8000}}       a text of so many bytes, always the same; a token is four bytes
//	{{text 8000 two}}   another one, different from its first byte on; any name
//	{{said}}, {{said 2}}        what the assistant said in the last answer, or in the second
//	{{id 1}}            the id of an answer, for previous_response_id
//	{{blocks}}, {{blocks 2}}    what that answer holds, as JSON with commas between: a message's content, a response's output
//	{{tools}}           what was named by let
//	{{session 1}}       the session id that the first answer told
//	{{sha256 300}}      SHA-256 in hex of {{text 300}}; {{sha256 300 two}} of {{text 300 two}}
//
// # Answers
//
// Every request is followed by "< STATUS", or "< STATUS cut" where the answer must
// break off, or "< STATUS left" where the client leaves once the answer has begun
// (a stream, with fault alpha {"hang_after_events": 2} before it). Below it stands what must hold; "nothing" means that there is none:
//
//	outcome promoted        in the header, and in the body where the body tells anything
//	vendor beta             who served
//	pinned beta             displaced alpha         source explicit        as outcome
//	detail older_warm_vendor                        gate off               in the body
//	session S               the id the body tells; also: session same as 1, session unlike 1, session ~ ^[0-9a-f]{64}$
//	tried alpha, beta       every attempt in its order, as it arrived; tried alpha/main, alpha/spare with credentials
//	credential spare        of the last attempt; own is a key that is not the catalog's
//	cached yes              whether the vendor of the last attempt read anything from its cache
//	client codex            the label that the books have for who sent the request
//	error TEXT              a part of the error's message
//	header NAME: VALUE      also: header NAME absent
//	body PATH = JSON        also: body PATH absent, body PATH ~ PATTERN; numbers in a path count items from 0
//	sent alpha header NAME: VALUE      what alpha was sent last; also absent and ~ PATTERN
//	sent alpha PATH = JSON             in its body; also absent and ~ PATTERN
//	sent alpha unchanged               its body is the client's but for model
//
// For a stream (stream = true) paths are looked for in its events, last first.
//
// # cannot.txt
//
// Entries with blank lines between them: statement, page and reason.
//
// # pages.txt
//
// Optional: the values of page in the order of the page, one on a line, for the
// table. Where it is there, no scenario may name another.
package conformance
