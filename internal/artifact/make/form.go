package make

// Form is the JSON schema of a document, for whoever writes one.
const Form = `{"type":"object","required":["title","sections"],"additionalProperties":false,"properties":{"title":{"type":"string"},` +
	`"subtitle":{"type":"string"},"sections":{"type":"array","items":{"type":"object","required":["title"],"additionalProperties"` +
	`:false,` +
	`"properties":{"layout":{"enum":["section","content"]},"title":{"type":"string"},"text":{"type":"string"},"bullets":{"type":"` +
	`array",` +
	`"items":{"type":"string"}},"table":{"type":"object","required":["columns","rows"],"properties":{"columns":{"type":"array","items":` +
	`{"type":"string"}},"rows":{"type":"array","items":{"type":"array"}}}},"chart":{"type":"object","required":["kind","labels","` +
	`series"],` +
	`"properties":{"kind":{"enum":["bar","line","pie"]},"labels":{"type":"array","items":{"type":"string"}},"series":{"type":"array"` +
	`,"items":` +
	`{"type":"object","required":["name","values"],"properties":{"name":{"type":"string"},"values":{"type":"array","items":{"type":"` +
	`number"}}}}}}},` +
	`"notes":{"type":"string"}}}},"sources":{"type":"array","description":"cited in texts as [1], [2]","items":{"type":"object","` +
	`required":` +
	`["title","url"],"properties":{"title":{"type":"string"},"url":{"type":"string"}}}}}}`
