class Toolpost < Formula
  desc "One endpoint for the tools of many MCP servers"
  homepage "https://github.com/toolpost/toolpost"
  version "9.8.7-rc.1"
  license "Apache-2.0"

  on_macos do
    on_intel do
      url "https://github.com/toolpost/toolpost/releases/download/v9.8.7-rc.1/toolpost_9.8.7-rc.1_darwin_amd64.tar.gz"
      sha256 "SHA256"
    end
    on_arm do
      url "https://github.com/toolpost/toolpost/releases/download/v9.8.7-rc.1/toolpost_9.8.7-rc.1_darwin_arm64.tar.gz"
      sha256 "SHA256"
    end
  end

  on_linux do
    on_intel do
      url "https://github.com/toolpost/toolpost/releases/download/v9.8.7-rc.1/toolpost_9.8.7-rc.1_linux_amd64.tar.gz"
      sha256 "SHA256"
    end
    on_arm do
      url "https://github.com/toolpost/toolpost/releases/download/v9.8.7-rc.1/toolpost_9.8.7-rc.1_linux_arm64.tar.gz"
      sha256 "SHA256"
    end
  end

  def install
    bin.install "toolpost"
    man1.install Dir["man/*.1"]
    generate_completions_from_executable(bin/"toolpost", "completion", shells: [:bash, :zsh, :fish])
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/toolpost version")
  end
end
