package org.revenantdb.chaos.examples;

import java.nio.file.Path;
import java.util.Map;
import java.util.SortedMap;
import net.openhft.chronicle.bytes.SyncMode;
import net.openhft.chronicle.queue.ChronicleQueue;
import net.openhft.chronicle.queue.ExcerptAppender;
import net.openhft.chronicle.queue.ExcerptTailer;
import net.openhft.chronicle.queue.rollcycles.TestRollCycles;
import org.jspecify.annotations.Nullable;

/**
 * Chronicle Queue. With {@link SyncMode#SYNC}, {@code sync()} of an {@link ExcerptAppender} forces
 * what was appended; by default it only starts to write. Its documents name replication for that:
 * "The best approach is to wait for a replicated message to be acknowledged." Each message is
 * "key=value", and the last one of a key counts.
 */
final class ChronicleQueueSubject extends PairSubject<ChronicleQueue> {
  /** A file has at least one block; the usual 80 MiB would be copied for each state. */
  private static final int BLOCK = 256 << 10;

  @Override
  public ChronicleQueue open(Path dir) {
    return ChronicleQueue.singleBuilder(dir)
        .rollCycle(TestRollCycles.TEST4_DAILY)
        .blockSize(BLOCK)
        .syncMode(SyncMode.SYNC)
        .build();
  }

  @Override
  int keysOfACommit() {
    return 1;
  }

  @Override
  void commit(ChronicleQueue store, SortedMap<String, String> changes) {
    try (ExcerptAppender appender = store.createAppender()) {
      for (Map.Entry<String, String> change : changes.entrySet()) {
        appender.writeText(change.getKey() + "=" + change.getValue());
      }
      appender.sync();
    }
  }

  @Override
  @Nullable String get(ChronicleQueue store, String key) {
    String found = null;
    try (ExcerptTailer tailer = store.createTailer()) {
      for (String message; (message = tailer.readText()) != null; ) {
        if (message.startsWith(key + "=")) {
          found = message.substring(key.length() + 1);
        }
      }
    }
    return found;
  }
}
