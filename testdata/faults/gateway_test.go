package faults_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// binary is the gateway under test: the one that WARMROUTE_BINARY names, else one that
// is built once.
var binary = os.Getenv("WARMROUTE_BINARY")

func TestMain(m *testing.M) {
	os.Exit(func() int {
		if binary != "" {
			return m.Run()
		}
		dir, err := os.MkdirTemp("", "warmroute-faults-")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		binary = filepath.Join(dir, "warmroute")
		if out, err := exec.Command("go", "build", "-o", binary, "../../cmd/warmroute").CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "go build: %v\n%s", err, out)
			return 1
		}
		return m.Run()
	}())
}

// gateway is a running process.
type gateway struct {
	cmd            *exec.Cmd
	client, admin  string // addresses, with their scheme
	out, log       *buffer
	done           chan struct{}
	err            error // of the process, once done
	data           string
	stopped        bool
	adminTransport *http.Transport
}

// buffer is written by one goroutine and read by others.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// startGateway runs the binary until it has printed its addresses.
func startGateway(t *testing.T, dir, catalog, config string, env []string) *gateway {
	t.Helper()
	for name, text := range map[string]string{"catalog.yaml": catalog, "warmroute.yaml": config} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	g := &gateway{data: filepath.Join(dir, "data"), out: &buffer{}, log: &buffer{}, done: make(chan struct{}), adminTransport: &http.Transport{DisableKeepAlives: true}}
	g.cmd = exec.Command(binary, "serve", "--catalog", filepath.Join(dir, "catalog.yaml"), "--config", filepath.Join(dir, "warmroute.yaml"),
		"--data", g.data, "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--log-level", "debug")
	g.cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir}, env...)
	g.cmd.Stderr = g.log
	stdout, err := g.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := g.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = g.cmd.Process.Kill() })
	ready := make(chan struct{})
	go func() {
		defer close(g.done)
		told := false
		for lines := bufio.NewScanner(stdout); lines.Scan(); {
			line := lines.Text()
			fmt.Fprintln(g.out, line)
			if address, ok := strings.CutPrefix(line, "gateway "); ok {
				g.client = address
			}
			if address, ok := strings.CutPrefix(line, "admin "); ok && !told {
				g.admin, told = address, true
				close(ready)
			}
		}
		g.err = g.cmd.Wait()
	}()
	select {
	case <-ready:
	case <-g.done:
		t.Fatalf("the gateway ended: %v\n%s", g.err, g.log)
	case <-time.After(time.Minute):
		t.Fatalf("no addresses within a minute\n%s", g.log)
	}
	return g
}

// stop ends the process as an operator would, and says what it ended with.
func (g *gateway) stop() error {
	if g.stopped {
		return g.err
	}
	g.stopped = true
	if err := g.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case <-g.done:
		return g.err
	case <-time.After(30 * time.Second):
		return errors.New("still running 30 s after SIGTERM")
	}
}

// page is one page of the admin surface.
func (g *gateway) page(path string) (int, []byte, error) {
	c := http.Client{Transport: g.adminTransport, Timeout: 30 * time.Second}
	response, err := c.Get(g.admin + path)
	if err != nil {
		return 0, nil, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return response.StatusCode, text, err
}

// sockets is how many sockets the process has open.
func (g *gateway) sockets() int {
	dir := "/proc/" + strconv.Itoa(g.cmd.Process.Pid) + "/fd"
	entries, _ := os.ReadDir(dir)
	n := 0
	for _, e := range entries {
		if to, err := os.Readlink(filepath.Join(dir, e.Name())); err == nil && strings.HasPrefix(to, "socket:") {
			n++
		}
	}
	return n
}

// resident is the memory of the process that is in RAM, in bytes, as /proc has it under
// this name: VmRSS now, or VmHWM at the most so far.
func (g *gateway) resident(name string) int64 {
	text, _ := os.ReadFile("/proc/" + strconv.Itoa(g.cmd.Process.Pid) + "/status")
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, name+":"); ok {
			kb, _ := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			return kb << 10
		}
	}
	return 0
}
