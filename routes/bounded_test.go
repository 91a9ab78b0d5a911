package routes_test

import (
	"net"
	"testing"
	"time"

	"github.com/warmroute/warmroute/routes"
)

// What is written for a client that does not read is little.
func TestTheKernelKeepsLittleForAClientThatDoesNotRead(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	client, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	_ = client.(*net.TCPConn).SetReadBuffer(16 << 10)
	conn, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if ctx := routes.NewServer(nil).ConnContext(t.Context(), conn); ctx != t.Context() {
		t.Error("the context of the connection is another one")
	}
	_ = conn.SetWriteDeadline(time.Now().Add(300 * time.Millisecond))
	var taken int
	for piece := make([]byte, 16<<10); ; {
		n, err := conn.Write(piece)
		taken += n
		if err != nil {
			break
		}
	}
	if taken > 512<<10 {
		t.Errorf("%d KB were taken for a client that reads nothing", taken>>10)
	}
}
