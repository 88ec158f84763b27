package org.revenantdb.jmh.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Paths refused before the work, and files written all or not at all. */
class OutputTest {
  @TempDir private Path folder;

  @Test
  void check_leavesNothingBehind_notEvenATouchedFile() throws IOException {
    Path file = folder.resolve("figures.json");
    Output.to(file);
    assertFalse(Files.exists(file));
    Files.writeString(file, "older");
    Output.to(file);
    assertEquals("older", Files.readString(file));
    assertEquals(List.of(file), children());
  }

  @Test
  void file_isReplacedInOnePiece() throws IOException {
    Path file = folder.resolve("figures.json");
    Files.writeString(file, "older");
    Output output = Output.to(file);
    AtomicBoolean torn = new AtomicBoolean();
    AtomicBoolean done = new AtomicBoolean();
    Thread reader =
        Thread.ofPlatform()
            .start(() -> {
              while (!done.get()) {
                try {
                  int length = Files.readString(file).length();
                  torn.compareAndSet(false, length != 5 && length != 200_000);
                } catch (IOException e) {
                  torn.set(true);
                }
              }
            });
    try {
      for (int i = 0; i < 50; i++) {
        output.write("x".repeat(200_000));
      }
    } finally {
      done.set(true);
      join(reader);
    }
    assertFalse(torn.get());
    assertEquals(List.of(file), children());
  }

  @Test
  void failure_keepsTheOldFileAndLeavesNoOther() throws IOException {
    Path file = folder.resolve("figures.json");
    Output output = Output.to(file);
    Files.createDirectory(file); // meanwhile
    Files.writeString(file.resolve("child"), "older");
    assertThrows(IOException.class, () -> output.write("newer"));
    assertEquals(List.of(file), children());
    assertEquals("older", Files.readString(file.resolve("child")));
  }

  @Test
  void written_asReadableAsAnyOtherFile() throws IOException {
    Path file = folder.resolve("figures.json");
    Output.to(file).write("text");
    Path usual = Files.writeString(folder.resolve("usual"), "text");
    assertEquals(Files.getPosixFilePermissions(usual), Files.getPosixFilePermissions(file));
  }

  @Test
  void folder_insteadOfAFileIsRefused() {
    assertRefused(folder, "is a folder");
    assertRefused(Path.of("/"), "is a folder");
  }

  @Test
  void folder_thatIsNotThereIsRefused() {
    assertRefused(folder.resolve("none").resolve("figures.json"), "there is no folder");
  }

  @Test
  void reportFolder_isMade_unlessAFileIsInTheWay() throws IOException {
    Output.in(folder.resolve("a").resolve("b"), "page.html").write("page");
    assertEquals("page", Files.readString(folder.resolve("a/b/page.html")));
    Path file = Files.writeString(folder.resolve("file"), "");
    assertThrows(IOException.class, () -> Output.in(file, "page.html"));
  }

  private void assertRefused(Path file, String because) {
    IOException thrown = assertThrows(IOException.class, () -> Output.to(file));
    assertTrue(thrown.getMessage().contains(because), thrown.getMessage());
  }

  private static void join(Thread thread) {
    try {
      thread.join();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private List<Path> children() throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files.toList();
    }
  }
}
