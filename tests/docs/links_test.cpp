// Links from page to page, to folders and to source files lead somewhere.
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "io/temporary_folder.h"
#include "tests/docs/markdown.h"

namespace cladtorch::docs {
namespace {

namespace fs = std::filesystem;

std::string faults(const fs::path& path) {
  std::ostringstream out;
  const Page page = read_page(path);
  for (const Link& link : page.links) {
    if (link.target.find("://") != std::string::npos || link.target.starts_with("mailto:")) continue;
    const size_t hash = link.target.find('#');
    const std::string file = link.target.substr(0, hash);
    const fs::path target = file.empty() ? path : path.parent_path() / file;
    const std::string where = path.filename().string() + ":" + std::to_string(link.line) + ": " + link.target;
    if (!fs::exists(target)) {
      out << where << ": there is no such file\n";
    } else if (hash != std::string::npos) {
      const std::vector<std::string> anchors = read_page(target).anchors;
      if (std::find(anchors.begin(), anchors.end(), link.target.substr(hash + 1)) == anchors.end())
        out << where << ": there is no such heading\n";
    }
  }
  return out.str();
}

TEST(Links, LeadToFilesAndHeadings) {
  for (const fs::path& page : pages(CLADTORCH_ROOT)) {
    const std::string found = faults(page);
    EXPECT_TRUE(found.empty()) << found;
  }
}

TEST(Links, AreNamedWhereTheyLeadNowhere) {
  const io::TemporaryFolder folder;
  const fs::path page =
      folder.write("page.md",
                   "# A `page` of [links](other.md)\n[to](none.md) and `[code](none.md)`\n"
                   "[here](#a-page-of-links), [there](other.md#gone)\n```\n[code](none.md)\n```\n");
  folder.write("other.md", "# Other\n## Twice\n## Twice\n[both](#twice) [both](#twice-1) [no](#twice-2)\n");
  EXPECT_EQ(faults(page),
            "page.md:2: none.md: there is no such file\n"
            "page.md:3: other.md#gone: there is no such heading\n");
  EXPECT_EQ(faults(folder / "other.md"), "other.md:4: #twice-2: there is no such heading\n");
}

}  // namespace
}  // namespace cladtorch::docs
