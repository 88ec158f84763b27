package org.revenantdb.chaos.disk;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A file system in memory keeps the same contract as the default one. */
class MemoryFileSystemContractTest extends FileSystemContract {

  private final MemoryFileSystem fileSystem = MemoryFileSystem.of(new DiskImage());

  @Override
  Path directory() {
    return fileSystem.root();
  }

  @AfterEach
  void close() {
    fileSystem.close();
  }

  @Test
  void path_operations_agree_with_the_default_file_system() {
    assertEquals(arithmetic(Path.of("x")), arithmetic(directory()));
  }
}
