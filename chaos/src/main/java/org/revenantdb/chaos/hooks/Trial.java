package org.revenantdb.chaos.hooks;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.io.FileOutputStream;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;

/** A few operations of each kind. A recorder that does not see them does not work here. */
final class Trial {

  /** So many are seen at least. */
  static final int OPERATIONS = 20;

  private static final boolean WINDOWS = System.getProperty("os.name").startsWith("Windows");

  private Trial() {}

  /**
   * Uses files in each way.
   *
   * @param directory exists and is empty, also afterwards
   */
  static void use(Path directory) throws IOException {
    Path trial = directory.resolve("trial");
    Files.createDirectory(trial);
    Path one = trial.resolve("one");
    Path two = trial.resolve("two");
    try (RandomAccessFile file = new RandomAccessFile(one.toFile(), "rw")) {
      file.write(new byte[5000]);
      file.setLength(4000);
      file.getFD().sync();
    }
    try (FileOutputStream out = new FileOutputStream(one.toFile(), true)) {
      out.write(1);
    }
    try (FileChannel file =
        FileChannel.open(one, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      file.write(ByteBuffer.allocate(10), 5);
      file.write(new ByteBuffer[] {ByteBuffer.allocate(10), ByteBuffer.allocate(3)});
      file.force(false);
      file.truncate(10);
      try (Arena arena = Arena.ofShared()) {
        MemorySegment map = file.map(FileChannel.MapMode.READ_WRITE, 0, 8192, arena);
        map.set(JAVA_BYTE, 3, (byte) 1);
        map.force();
      }
      try (FileChannel copy =
          FileChannel.open(two, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
        file.transferTo(0, 4096, copy);
      }
    }
    if (!WINDOWS) { // which does not open directories
      try (FileChannel names = FileChannel.open(trial)) {
        names.force(true);
      }
    }
    Files.move(two, one, StandardCopyOption.ATOMIC_MOVE);
    if (!one.toFile().renameTo(two.toFile()) || !two.toFile().delete()) {
      throw new IOException("cannot rename or delete a file in " + trial);
    }
    Files.delete(trial);
  }
}
