package org.revenantdb.chaos.disk;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A file system in memory keeps the contract that the default one keeps. */
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
  void path_arithmetic_is_that_of_the_default_file_system() {
    assertEquals(arithmetic(Path.of("x")), arithmetic(directory()));
  }
}
