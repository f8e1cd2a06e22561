package proof

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
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

// packets runs a shell script in that network and returns how many packets
// tried to leave.
func packets(t *testing.T, script string, env []string, args ...string) int {
	t.Helper()
	line := append(unshare(t, "-nm"), "sh", "-ec", network+script+"\nip -j -s link show out >counted.json\n", "sh")
	dir := testenv.Dir(t)
	cmd := exec.Command(line[0], append(line[1:], args...)...)
	cmd.Dir, cmd.Env = dir, append(env, "PATH="+os.Getenv("PATH")+":/usr/sbin:/sbin")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, tail(string(out), 6000))
	}
	t.Logf("%s", tail(string(out), 3000))
	data, err := os.ReadFile(filepath.Join(dir, "counted.json"))
	if err != nil {
		t.Fatal(err)
	}
	var counted []struct {
		Stats struct {
			TX struct{ Packets int } `json:"tx"`
		} `json:"stats64"`
	}
	if err := json.Unmarshal(data, &counted); err != nil || len(counted) != 1 {
		t.Fatalf("ip -s link: %v\n%s", err, data)
	}
	return counted[0].Stats.TX.Packets
}

func TestTheCounterCounts(t *testing.T) {
	for name, script := range map[string]string{
		"an address": "curl -s -m 1 http://192.0.2.7/ || true",
		"a name":     "curl -s -m 1 http://example.com/ || true",
	} {
		if n := packets(t, script, testenv.Env(t)); n == 0 {
			t.Errorf("%s was called and no packet was counted", name)
		}
	}
	if n := packets(t, "curl -s -m 1 http://127.0.0.1:9/ || true", testenv.Env(t)); n != 0 {
		t.Errorf("loopback was called and %d packets were counted", n)
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
