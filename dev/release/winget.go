package main

import "strings"

// wingetID is the name of the package among those of winget.
const wingetID = "Toolpost.Toolpost"

// writeWinget writes the three manifests of winget, version 1.10: of the package, of its
// texts, and of the archives with the program.
func writeWinget(r *release) error {
	head := "PackageIdentifier: " + wingetID + "\nPackageVersion: " + r.number() + "\n"
	installers := ""
	for _, p := range r.programs {
		if p.goos != "windows" {
			continue
		}
		url, digest, err := r.download(p)
		if err != nil {
			return err
		}
		installers += "- Architecture: " + npmArchitectures[p.goarch] + "\n  InstallerUrl: " + url + "\n  InstallerSha256: " + strings.ToUpper(digest) + "\n"
	}
	for kind, text := range map[string]string{
		"version": "DefaultLocale: en-US\n",
		"installer": "InstallerType: zip\nNestedInstallerType: portable\nNestedInstallerFiles:\n- RelativeFilePath: toolpost.exe\n  PortableCommandAlias: toolpost\n" +
			"Commands:\n- toolpost\nReleaseDate: " + r.time.Format("2006-01-02") + "\nInstallers:\n" + installers,
		"defaultLocale": "PackageLocale: en-US\nPublisher: " + maintainer + "\nPublisherUrl: " + homepage + "\nPackageName: Toolpost\nPackageUrl: " + homepage +
			"\nLicense: " + licence + "\nLicenseUrl: " + homepage + "/blob/main/LICENSE\nShortDescription: " + summary + "\nMoniker: toolpost\nTags:\n- mcp\n- agents\n",
	} {
		name := wingetID + map[string]string{"version": "", "installer": ".installer", "defaultLocale": ".locale.en-US"}[kind] + ".yaml"
		schema := "# yaml-language-server: $schema=https://aka.ms/winget-manifest." + kind + ".1.10.0.schema.json\n\n"
		if err := r.put("winget/"+name, []byte(schema+head+text+"ManifestType: "+kind+"\nManifestVersion: 1.10.0\n")); err != nil {
			return err
		}
	}
	return nil
}
