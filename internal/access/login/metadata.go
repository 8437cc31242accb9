package login

// serverMetadata has the metadata of an authorization server (RFC 8414, §2) that
// Toolpost uses.
type serverMetadata struct {
	Issuer                string
	AuthorizationEndpoint string
	TokenEndpoint         string
	RegistrationEndpoint  string
	RevocationEndpoint    string

	ScopesSupported                            []string
	CodeChallengeMethodsSupported              []string
	TokenEndpointAuthMethodsSupported          []string
	ClientIDMetadataDocumentSupported          bool
	AuthorizationResponseIssParameterSupported bool
}

func newServerMetadata(d document) *serverMetadata {
	return &serverMetadata{
		Issuer:                d.text("issuer"),
		AuthorizationEndpoint: d.text("authorization_endpoint"),
		TokenEndpoint:         d.text("token_endpoint"),
		RegistrationEndpoint:  d.text("registration_endpoint"),
		RevocationEndpoint:    d.text("revocation_endpoint"),

		ScopesSupported:                            d.texts("scopes_supported"),
		CodeChallengeMethodsSupported:              d.texts("code_challenge_methods_supported"),
		TokenEndpointAuthMethodsSupported:          d.texts("token_endpoint_auth_methods_supported"),
		ClientIDMetadataDocumentSupported:          d.flag("client_id_metadata_document_supported"),
		AuthorizationResponseIssParameterSupported: d.flag("authorization_response_iss_parameter_supported"),
	}
}

// resourceMetadata has the metadata of an MCP server (RFC 9728, §2) that Toolpost uses.
type resourceMetadata struct {
	Resource             string
	AuthorizationServers []string
	ScopesSupported      []string
}

func newResourceMetadata(d document) *resourceMetadata {
	return &resourceMetadata{
		Resource:             d.text("resource"),
		AuthorizationServers: d.texts("authorization_servers"),
		ScopesSupported:      d.texts("scopes_supported"),
	}
}

// clientMetadata describes Toolpost to an authorization server at which it registers
// (RFC 7591, §2).
type clientMetadata struct {
	RedirectURIs            []string `json:"redirect_uris"`
	TokenEndpointAuthMethod string   `json:"token_endpoint_auth_method"`
	GrantTypes              []string `json:"grant_types"`
	ResponseTypes           []string `json:"response_types"`
	ClientName              string   `json:"client_name"`
	ClientURI               string   `json:"client_uri"`
	ApplicationType         string   `json:"application_type"`
}
