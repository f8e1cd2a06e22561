package seal

import (
	"encoding/hex"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/thomas-vilte/mls-go/group"
)

// The vectors are those of the MLS working group (github.com/mlswg/mls-implementations),
// as carried by the pinned module, so they are read from where it is built from.
func mlsVectors(t *testing.T, name string, into any) {
	t.Helper()
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/thomas-vilte/mls-go").Output()
	if err != nil {
		t.Fatalf("find the mls module: %v", err)
	}
	b, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(out)), "testdata", "mls-interop-testvectors", "test-vectors", name))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, into); err != nil {
		t.Fatal(err)
	}
}

type hexBytes []byte

func (h *hexBytes) UnmarshalText(b []byte) (err error) {
	*h, err = hex.DecodeString(string(b))
	return err
}

type passiveCase struct {
	Suite int `json:"cipher_suite"`
	PSKs  []struct {
		ID  hexBytes `json:"psk_id"`
		PSK hexBytes `json:"psk"`
	} `json:"external_psks"`
	KeyPackage hexBytes  `json:"key_package"`
	Sign       hexBytes  `json:"signature_priv"`
	Leaf       hexBytes  `json:"encryption_priv"`
	Init       hexBytes  `json:"init_priv"`
	Welcome    hexBytes  `json:"welcome"`
	Tree       *hexBytes `json:"ratchet_tree"`
	Start      hexBytes  `json:"initial_epoch_authenticator"`
	Epochs     []struct {
		Proposals []hexBytes `json:"proposals"`
		Commit    hexBytes   `json:"commit"`
		Auth      hexBytes   `json:"epoch_authenticator"`
	} `json:"epochs"`
}

// A passive client that joins by welcome and follows commits must reach the
// epochs that other implementations reached. This is the path a member takes.
func TestRFC9420PassiveClient(t *testing.T) {
	var joined, followed int
	for _, file := range []string{"passive-client-welcome.json", "passive-client-handling-commit.json"} {
		var cases []passiveCase
		mlsVectors(t, file, &cases)
		for i, c := range cases {
			if c.Suite != int(suite) || c.Tree != nil {
				continue // a tree delivered apart from the welcome is a form we never make or accept
			}
			key := keyPackageBody(c.KeyPackage)
			n, err := newcomerFrom(nil, newcomerState{KeyPackage: key, Init: c.Init, Leaf: c.Leaf}, ed25519FromSeed(c.Sign))
			if err != nil {
				t.Fatalf("%s %d: %v", file, i, err)
			}
			w, err := parseWelcome(c.Welcome)
			if err != nil {
				t.Fatalf("%s %d: %v", file, i, err)
			}
			psks := map[string][]byte{}
			for _, p := range c.PSKs {
				psks[string(p.ID)] = p.PSK
			}
			inner, err := group.JoinFromWelcome(w, n.kp, n.priv, psks)
			if err != nil {
				t.Fatalf("%s %d: join: %v", file, i, err)
			}
			if got := hex.EncodeToString(inner.EpochAuthenticator()); got != hex.EncodeToString(c.Start) {
				t.Fatalf("%s %d: after welcome %s, want %x", file, i, got, c.Start)
			}
			joined++
			for j, e := range c.Epochs {
				if len(e.Proposals) > 0 {
					break // proposals by reference: our commits carry theirs by value
				}
				if err := follow(inner, e.Commit); err != nil {
					t.Fatalf("%s %d epoch %d: %v", file, i, j, err)
				}
				if got := hex.EncodeToString(inner.EpochAuthenticator()); got != hex.EncodeToString(e.Auth) {
					t.Fatalf("%s %d epoch %d: %s, want %x", file, i, j, got, e.Auth)
				}
				followed++
			}
		}
	}
	if joined < 10 || followed < 10 {
		t.Fatalf("only %d welcomes and %d commits were tried", joined, followed)
	}
	t.Logf("%d welcomes, %d commits", joined, followed)
}

// CFRG draft-irtf-cfrg-cpace, "CPace using group ristretto255 and hash SHA-512".
func TestCPaceDraftVectors(t *testing.T) {
	unhex := func(s string) []byte {
		b, err := hex.DecodeString(s)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	sid := unhex("7e4b4791d6a8ef019b936c79fb7f2c57")
	ci := []byte("\x0bA_initiator\x0bB_responder")
	g, err := generator([]byte("Password"), ci, sid)
	if err != nil {
		t.Fatal(err)
	}
	equal := func(what string, got []byte, want string) {
		t.Helper()
		if hex.EncodeToString(got) != want {
			t.Fatalf("%s = %x, want %s", what, got, want)
		}
	}
	equal("generator", g.Bytes(), "222b6b195fe84b1652badb6f6a3ae3d24341e7306967f0b8115b40d5698c7e56")
	a := draftSide(t, ci, sid, "ADa", "da3d23700a9e5699258aef94dc060dfda5ebb61f02a5ea77fad53f4ff0976d08", true)
	b := draftSide(t, ci, sid, "ADb", "d2316b454718c35362d83d69df6320f38578ed5984651435e2949762d900b80d", false)
	equal("Ya", a.Message(), "d6bac480f2c386c394efc7c47adb9925dcd2630b64f240c50f8d0eec482b9157")
	equal("Yb", b.Message(), "3ea7e0b19560d7c0b0f5734f63b955286dfa8232b5ebe63324e2d9e7433f7258")
	if err := a.Finish(b.Message(), []byte("ADb")); err != nil {
		t.Fatal(err)
	}
	if err := b.Finish(a.Message(), []byte("ADa")); err != nil {
		t.Fatal(err)
	}
	const isk = "b69effbf61b51d56401c0f65601abe428de8206feaaf0e32198896dcae7b35cd" +
		"2b38950a39dfd5d4a79164614c2984f7daa460b588c1e80c3fa2068af7900447"
	equal("ISK of A", a.isk, isk)
	equal("ISK of B", b.isk, isk)
	if err := b.Confirm(a.Tag()); err != nil {
		t.Fatal(err)
	}
	if err := a.Confirm(b.Tag()); err != nil {
		t.Fatal(err)
	}
}
