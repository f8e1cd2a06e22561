package wire

import (
	"time"

	"tandem/internal/op"
)

// The operations about the model that says where texts point.
const (
	Model      = op.Def[ModelIn, ModelOut]("memory.model")
	ModelSet   = op.Def[ModelSetIn, ModelOut]("memory.model_set")
	ModelClear = op.Def[ModelIn, ModelOut]("memory.model_clear")
)

// ModelIn is empty.
type ModelIn struct{}

// ModelSetIn chooses a model: one of a provider, or one that this server computes itself.
type ModelSetIn struct {
	Endpoint string `json:"endpoint,omitempty" jsonschema:"a provider's model, as provider/model: records and questions are sent there"`
	Files    string `json:"files,omitempty" jsonschema:"a folder of the server's machine, or an address, with model.safetensors, config.json and vocab.txt"`
	Digest   string `json:"digest,omitempty" jsonschema:"the SHA-256 of model.safetensors, in hex"`
	Asks     string `json:"asks,omitempty" jsonschema:"what the model wants before a question, as 'query: '"`
	Tells    string `json:"tells,omitempty" jsonschema:"what it wants before a record, as 'passage: '"`
}

// ModelState says how far a model is.
type ModelState string

// The states of a model.
const (
	ModelNone    ModelState = "none"    // the table that is built in is all there is
	ModelLooking ModelState = "looking" // it is fetched and tried
	ModelReady   ModelState = "ready"
	ModelFailed  ModelState = "failed" // searches go on without it
)

// ModelOut says which model is chosen, and how many records it has seen.
type ModelOut struct {
	State    ModelState `json:"state" jsonschema:"none, looking, ready or failed"`
	Endpoint string     `json:"endpoint,omitempty"`
	Files    string     `json:"files,omitempty"`
	Digest   string     `json:"digest,omitempty"`
	Name     string     `json:"name,omitempty" jsonschema:"which is kept with each vector"`
	Dims     int        `json:"dims,omitempty"`
	Leaves   bool       `json:"leaves,omitempty" jsonschema:"records and questions are sent out of the house"`
	Problem  string     `json:"problem,omitempty"`
	Records  int        `json:"records" jsonschema:"that are live"`
	Pointed  int        `json:"pointed" jsonschema:"of them, those that the model has seen; the others are found by the table that is built in"`
	SetBy    string     `json:"set_by,omitempty"`
	SetAt    time.Time  `json:"set_at,omitzero"`
}
