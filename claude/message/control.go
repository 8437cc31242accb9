package message

import "encoding/json"

// A ControlRequest is a request of the CLI to this process.
type ControlRequest struct {
	Header
	RequestID string          `json:"request_id"`
	Request   json.RawMessage `json:"request"`
	Kind      string          `json:"-"` // the request's subtype
}

func (m *ControlRequest) finish(d *decoder) error {
	var request struct {
		Subtype string `json:"subtype"`
	}
	err := d.part(m.Request, "request", &request, "subtype")
	m.Kind = request.Subtype
	return err
}

// A ControlResponse answers a request of this process.
type ControlResponse struct {
	Header
	Response struct {
		Subtype   string          `json:"subtype"` // success or error
		RequestID string          `json:"request_id"`
		Response  json.RawMessage `json:"response"` // nil if there is none
		Error     string          `json:"error"`
		ErrorCode string          `json:"error_code"`

		// Of the answer to initialize: requests that wait for an answer.
		PendingPermissionRequests json.RawMessage `json:"pending_permission_requests"`
		PendingUserDialogRequests json.RawMessage `json:"pending_user_dialog_requests"`
	} `json:"response"`
}

func (m *ControlResponse) finish(*decoder) error {
	switch {
	case m.Response.RequestID == "":
		return &fieldError{"response.request_id", errMissing}
	case m.Response.Subtype == "":
		return &fieldError{"response.subtype", errMissing}
	}
	return nil
}

// A ControlCancel cancels a request of the CLI.
type ControlCancel struct {
	Header
	RequestID string `json:"request_id"`
}

// A KeepAlive only shows that the CLI is alive.
type KeepAlive struct{ Header }
