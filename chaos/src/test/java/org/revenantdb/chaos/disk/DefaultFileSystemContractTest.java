package org.revenantdb.chaos.disk;

import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;

/** The contract describes the default file system: without this it would prove nothing. */
class DefaultFileSystemContractTest extends FileSystemContract {

  @TempDir private Path directory;

  @Override
  Path directory() {
    return directory;
  }
}
