package org.revenantdb.chaos.teeth;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TinyStoreTest {

  @TempDir private Path dir;

  @Test
  void store_openedAgain_holdsWhatWasPut() throws IOException {
    try (TinyStore store = TinyStore.open(dir)) {
      store.put("a", "1");
      store.put("b", "");
      store.put("c", "3");
      store.remove("c");
      store.put("a", "ü");
    }
    for (int opening = 0; opening < 3; opening++) {
      try (TinyStore store = TinyStore.open(dir)) {
        assertEquals(Map.of("a", "ü", "b", ""), store.content());
        assertNull(store.get("c"));
      }
    }
  }

  @Test
  void store_afterManySwitches_agreesWithAMapAndHasTwoFiles() throws IOException {
    Map<String, String> model = new HashMap<>();
    SplittableRandom random = new SplittableRandom(5);
    for (int life = 0; life < 4; life++) {
      try (TinyStore store = TinyStore.open(dir)) {
        assertEquals(model, store.content());
        for (int i = 0; i < 200; i++) {
          String key = "k" + random.nextInt(9);
          if (random.nextInt(4) == 0) {
            store.remove(key);
            model.remove(key);
          } else {
            String value = life + " " + i + "x".repeat(random.nextInt(500));
            store.put(key, value);
            model.put(key, value);
          }
        }
      }
    }
    assertEquals(2, files().size());
  }

  @Test
  void tail_cutAnywhere_isTheEndOfTheLog() throws IOException {
    try (TinyStore store = TinyStore.open(dir)) {
      store.put("a", "1");
      store.put("b", "two");
    }
    byte[] whole = Files.readAllBytes(log());
    int second = whole.length - 8 - 3 - 1 - 3;
    for (int length = second; length < whole.length; length++) {
      try (FileChannel channel = FileChannel.open(log(), StandardOpenOption.WRITE)) {
        channel.truncate(length);
      }
      try (TinyStore store = TinyStore.open(dir)) {
        assertEquals(Map.of("a", "1"), store.content());
        store.put("b", "two");
      }
      try (TinyStore store = TinyStore.open(dir)) {
        assertEquals(Map.of("a", "1", "b", "two"), store.content());
      }
    }
  }

  @Test
  void tail_withAByteThatIsWrong_isTheEndOfTheLog() throws IOException {
    try (TinyStore store = TinyStore.open(dir)) {
      store.put("a", "1");
      store.put("b", "two");
    }
    byte[] whole = Files.readAllBytes(log());
    byte[] torn = whole.clone();
    torn[whole.length - 1] = 0;
    Files.write(log(), torn);
    try (TinyStore broken = TinyStore.open(dir, Flaw.RECORD_WITHOUT_CRC)) {
      assertEquals("tw\0", broken.get("b"));
    }
    Path log = log();
    Files.write(log, torn);
    try (TinyStore store = TinyStore.open(dir)) {
      assertEquals(Map.of("a", "1"), store.content());
    }
  }

  @Test
  void switch_cutShortByACrash_leavesTheOldLogValid() throws IOException {
    try (TinyStore store = TinyStore.open(dir)) {
      store.put("a", "1");
    }
    Files.writeString(dir.resolve("current.tmp"), "half");
    Files.writeString(dir.resolve("log-7"), "half");
    try (TinyStore store = TinyStore.open(dir)) {
      assertEquals(Map.of("a", "1"), store.content());
      assertEquals(List.of("current", "log-8"), files());
    }
  }

  @Test
  void damage_ofThePointer_isRefused() throws IOException {
    TinyStore.open(dir).close();
    Files.writeString(dir.resolve("current"), "something else");
    assertThrows(IOException.class, () -> TinyStore.open(dir));
  }

  @Test
  void closedStore_acceptsNothing() throws IOException {
    TinyStore store = TinyStore.open(dir);
    store.close();
    assertThrows(IOException.class, () -> store.put("a", "1"));
  }

  private Path log() throws IOException {
    return dir.resolve(files().getLast());
  }

  private List<String> files() throws IOException {
    try (Stream<Path> list = Files.list(dir)) {
      return list.map(file -> String.valueOf(file.getFileName())).sorted().toList();
    }
  }
}
