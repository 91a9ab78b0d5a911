// Package conformance runs the official Go clients against a running
// warmroute: openai-go for the APIs chat and responses, anthropic-sdk-go for
// messages.
//
// It is a module of its own, so that warmroute does not depend on the clients.
// It reads its addresses from the environment and is started by the driver in
// the folder above:
//
//	WARMROUTE_URL            base address of the gateway, such as http://127.0.0.1:8080
//	WARMROUTE_SIM_OPENAI     script of the vendor behind the APIs chat and responses, such as http://127.0.0.1:7001/sim
//	WARMROUTE_SIM_ANTHROPIC  script of the vendor behind the API messages
//	WARMROUTE_DIRECT         1: WARMROUTE_URL is a simulated vendor itself; what only a gateway does is not checked
//
// The catalog must have the models conformance/chat-go, conformance/responses-go
// and conformance/messages-go, whose one route has the part after the slash as
// its upstream model.
package conformance
