package exchange

import (
	"encoding/json"

	"tandem/internal/repo"
)

// ReceiptPurpose is what a server signs receipts for.
const ReceiptPurpose = "tandem repository receipt v1"

// Receipt is a server's word that an operation was its head, and so that it
// acknowledged that and everything behind it. A replica keeps the newest. On its
// strength a server that was put back to an older state takes back what the replica
// holds, also of others: it judged all of it before.
type Receipt struct {
	Repository string `json:"repository"` // its id
	Operation  string `json:"operation"`  // the head
	Version    int64  `json:"version"`
	Workspace  string `json:"workspace"` // whose question was answered
	Actor      string `json:"actor"`     // who asked, by id
	// Era counts how often a person decided to keep an older state: receipts from
	// before that bring back nothing by themselves.
	Era    int64  `json:"era,omitempty"`
	Signed string `json:"signed,omitempty"` // the signature, in base64
}

// Bytes are what is signed.
func (r Receipt) Bytes() []byte {
	r.Signed = ""
	data, err := json.Marshal(r)
	if err != nil {
		panic(err) // texts and numbers
	}
	return data
}

// Head is the operation that the receipt is about.
func (r Receipt) Head() (repo.OperationID, bool) { return repo.ParseOperationID(r.Operation) }
