package httpconn

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
)

// Advice returns what is wrong with the address of a server that cannot be reached, and
// what to do about it; "" if that is not known.
func Advice(err error) string {
	var dns *net.DNSError
	switch {
	case isA[*x509.UnknownAuthorityError](err), isA[x509.UnknownAuthorityError](err):
		return "its TLS certificate is signed by an unknown authority; add it to the system's certificates, or name its file in SSL_CERT_FILE"
	case isA[x509.HostnameError](err), isA[x509.CertificateInvalidError](err):
		return fmt.Sprintf("its TLS certificate is not valid: %v; fix the certificate, or the host of its url", WithoutURL(err))
	case isA[tls.RecordHeaderError](err), errors.Is(err, http.ErrSchemeMismatch):
		return "it does not speak TLS; use http:// in its url"
	case errors.Is(err, ErrRefused):
		return "nothing listens at its address; start the server, or check the host and port of its url"
	case errors.As(err, &dns):
		return fmt.Sprintf("the host %q is not found; check its url", dns.Name)
	}
	return ""
}

// WithoutURL returns the cause of the error of a request, without the address, which may
// contain a secret.
func WithoutURL(err error) error {
	if request, ok := errors.AsType[*url.Error](err); ok {
		return request.Err
	}
	return err
}

// isA reports whether err is, or wraps, an error of the type E.
func isA[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}
