package proof

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"os/exec"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tandem/internal/provider/scripted"
)

// worldAddr is where the world beyond the machines answers: an address that is nobody's private one.
const worldAddr = "160.79.104.10"

// worldNames are the hosts that documents name and that answer here: models by their providers' names, and an MCP server.
var worldNames = []string{"api.anthropic.com", "api.openai.com", "docs.example"}

// world stands for the internet of the documents: a scripted model where providers are, an MCP server where docs.example is.
type world struct {
	model *scripted.Server
	ca    []byte // machines trust it, as they trust the world's
}

func newWorld(t *testing.T) *world {
	t.Helper()
	for _, line := range []string{"ip addr add 10.99.2.254/24 dev bridge", "ip addr add " + worldAddr + "/32 dev lo"} {
		if out, err := exec.Command("sh", "-c", line).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v %s", line, err, out)
		}
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	cert := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "the world"}, NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(24 * time.Hour), IsCA: true, BasicConstraintsValid: true, DNSNames: worldNames,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature}
	der, err := x509.CreateCertificate(rand.Reader, cert, cert, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	// The agent of the jobs: what documents ask it to do is in words, without a script.
	work := scripted.Rule{Prompt: "fix the login redirect", Tool: "write", Turns: []scripted.Turn{
		{{Tool: "write", Args: []byte(`{"path":"redirect.txt","content":"/home\n"}`)}}, {{Say: "the redirect is mended"}}}}
	lead := scripted.Rule{Prompt: "You lead a team", Turns: []scripted.Turn{
		{{Say: `{"tasks":[{"name":"redirect","text":"fix the login redirect"},{"name":"docs","text":"say it","after":["redirect"]}]}`}}}}
	w := &world{model: &scripted.Server{Script: scripted.Script{Rules: []scripted.Rule{lead, work}}},
		ca: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})}
	docs := mcp.NewServer(&mcp.Implementation{Name: "docs", Version: "1"}, nil)
	type query struct {
		Words string `json:"words"`
	}
	mcp.AddTool(docs, &mcp.Tool{Name: "search", Description: "search the documents"},
		func(context.Context, *mcp.CallToolRequest, query) (*mcp.CallToolResult, any, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "found"}}}, nil, nil
		})
	mux := http.NewServeMux()
	mux.Handle("docs.example/mcp", mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return docs }, nil))
	mux.Handle("/", w.model)
	l, err := tls.Listen("tcp", net.JoinHostPort(worldAddr, "443"),
		&tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}})
	if err != nil {
		t.Fatal(err)
	}
	// Agent programs bring roots of their own, so the model is there without TLS, too.
	plain, err := net.Listen("tcp", net.JoinHostPort(worldAddr, "80"))
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range []net.Listener{l, plain} {
		srv := &http.Server{Handler: mux}
		go srv.Serve(l) //nolint:errcheck // ends with the test
		t.Cleanup(func() { srv.Close() })
	}
	return w
}
