package callers

import "net/http"

// SetTransport has the requests of introspections sent by t.
func SetTransport(s *Resource, t http.RoundTripper) {
	s.claimReader.(*introspector).client.Transport = t
}

// Kept returns how many answers of introspections are kept.
func Kept(s *Resource) (known, refused int) {
	i := s.claimReader.(*introspector)
	return len(i.known), len(i.refused)
}
