package proof

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tandem/internal/testenv"
)

// unshare is the command line that starts a program in namespaces of its own,
// as root or as anybody.
func unshare(t testing.TB, flags string) []string {
	line := []string{testenv.Tool(t, "unshare")}
	if os.Getuid() != 0 {
		line = append(line, "--map-root-user")
	}
	return append(line, flags)
}

// network makes a network in which every packet that does not stay on loopback
// goes into a device that counts it and leads nowhere. Names would be looked up
// there too.
const network = `
ip link set lo up
ip link add out type veth peer name nowhere
echo 1 >/proc/sys/net/ipv6/conf/out/disable_ipv6
echo 1 >/proc/sys/net/ipv6/conf/nowhere/disable_ipv6
ip addr add 10.99.0.1/24 dev out
ip link set out arp off
ip link set out up
ip link set nowhere up
ip route add default dev out
echo nameserver 10.99.0.2 >resolv.conf
mount --bind resolv.conf /etc/resolv.conf
`

// quiet is such a network, and how many packets tried to leave it.
type quiet struct {
	t     *testing.T
	enter []string // the program that starts others in it
}

func quietNetwork(t *testing.T) *quiet {
	t.Helper()
	line := append(unshare(t, "-nm"), "sh", "-ec", network+"echo ready; exec cat")
	cmd := exec.Command(line[0], line[1:]...)
	cmd.Dir, cmd.Env = testenv.Dir(t), testenv.Env(t, "PATH="+os.Getenv("PATH")+":/usr/sbin:/sbin")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close(); cmd.Wait() })
	if said, err := bufio.NewReader(out).ReadString('\n'); said != "ready\n" {
		t.Fatalf("make a network: %q %v", said, err)
	}
	q := &quiet{t: t, enter: []string{testenv.Tool(t, "nsenter"), "--target", strconv.Itoa(cmd.Process.Pid), "--net", "--mount"}}
	if os.Getuid() != 0 {
		q.enter = append(q.enter, "--user", "--preserve-credentials")
	}
	return q
}

// within puts a server and its commands into such a network. The test process
// is outside of it and reaches the server by its socket.
func (s *server) within(q *quiet) {
	s.enter = append(slices.Clone(q.enter), "--wd="+s.home)
	s.health = func() bool {
		_, err := s.run("status")
		return err == nil
	}
}

// packets counts what tried to leave since the network was made.
func (q *quiet) packets() int {
	q.t.Helper()
	line := append(slices.Clone(q.enter), testenv.Tool(q.t, "ip"), "-j", "-s", "link", "show", "out")
	data, err := exec.Command(line[0], line[1:]...).Output()
	if err != nil {
		q.t.Fatal(err)
	}
	var counted []struct {
		Stats struct {
			TX struct{ Packets int } `json:"tx"`
		} `json:"stats64"`
	}
	if err := json.Unmarshal(data, &counted); err != nil || len(counted) != 1 {
		q.t.Fatalf("ip -s link: %v\n%s", err, data)
	}
	return counted[0].Stats.TX.Packets
}

func TestTheCounterCounts(t *testing.T) {
	q := quietNetwork(t)
	for _, c := range []struct {
		url    string
		leaves bool
	}{{"http://127.0.0.1:9/", false}, {"http://192.0.2.7/", true}, {"http://example.com/", true}} {
		before := q.packets()
		line := append(slices.Clone(q.enter), testenv.Tool(t, "curl"), "-s", "-m", "1", c.url)
		cmd := exec.Command(line[0], line[1:]...)
		cmd.Env = testenv.Env(t)
		cmd.Run() // it fails: nobody answers
		if left := q.packets() - before; (left > 0) != c.leaves {
			t.Errorf("%s: %d packets counted", c.url, left)
		}
	}
}

// The program runs in a root that holds nothing else: no libraries, no /etc,
// no /proc, no certificates.
func TestEmptyRoot(t *testing.T) {
	s := newServer(t)
	s.wrap = []string{testenv.Tool(t, "bwrap"), "--unshare-user", "--unshare-pid", "--die-with-parent",
		"--ro-bind", testenv.Tandem(t), "/tandem", "--tmpfs", "/tmp", "--perms", "0700", "--tmpfs", "/data", "--chdir", "/",
		"--clearenv", "--setenv", "HOME", "/data", "--setenv", "TANDEM_API_TOKEN", apiToken}
	s.program, s.data = "/tandem", "/data"
	s.start()
	if a := s.as(s.token, "PUT", "/resource/empty/root", map[string]any{"value": "works"}); a.status/100 != 2 {
		t.Errorf("a write: %s", a)
	}
	if a := s.as(s.token, "GET", "/resource/empty/root", nil); !strings.Contains(a.String(), "works") {
		t.Errorf("a read: %s", a)
	}
}
