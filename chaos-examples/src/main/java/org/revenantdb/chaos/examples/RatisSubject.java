package org.revenantdb.chaos.examples;

import java.io.IOException;
import java.nio.file.Path;
import java.util.SortedMap;
import java.util.concurrent.ExecutionException;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.proto.RaftProtos.StateMachineLogEntryProto;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftGroupMemberId;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.RaftServerConfigKeys;
import org.apache.ratis.server.protocol.TermIndex;
import org.apache.ratis.server.raftlog.LogProtoUtils;
import org.apache.ratis.server.raftlog.RaftLog;
import org.apache.ratis.server.raftlog.segmented.SegmentedRaftLog;
import org.apache.ratis.server.storage.RaftStorage;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.apache.ratis.util.SizeInBytes;
import org.jspecify.annotations.Nullable;

/**
 * The log of a server of Apache Ratis, without the server. The future of an append is completed
 * when the entry is flushed; "unsafe-flush allows increasing flush index without waiting the actual
 * async-flush to complete", and both kinds of flush are off, as they are by default. A commit is
 * one entry.
 */
final class RatisSubject extends PairSubject<RatisSubject.Opened> {
  private static final RaftGroupMemberId MEMBER =
      RaftGroupMemberId.valueOf(RaftPeerId.valueOf("one"), RaftGroupId.emptyGroupId());
  private static final long TERM = 1;

  /** With the usual 8 MB no log would get a second segment; 4 MB would be copied for each state. */
  private static final SizeInBytes SEGMENT = SizeInBytes.valueOf("32KB");

  private static final SizeInBytes PREALLOCATED = SizeInBytes.valueOf("16KB");

  /** A log in its directory. */
  record Opened(RaftStorage storage, SegmentedRaftLog log) implements AutoCloseable {
    @Override
    public void close() throws IOException {
      try (storage) {
        log.close();
      }
    }
  }

  @Override
  public Opened open(Path dir) throws IOException {
    RaftProperties settings = new RaftProperties();
    RaftServerConfigKeys.Log.setSegmentSizeMax(settings, SEGMENT);
    RaftServerConfigKeys.Log.setPreallocatedSize(settings, PREALLOCATED);
    RaftStorage storage =
        RaftStorage.newBuilder()
            .setDirectory(dir.resolve("group").toFile())
            .setOption(RaftStorage.StartupOption.RECOVER)
            .setStorageFreeSpaceMin(SizeInBytes.ZERO)
            .build();
    storage.initialize();
    try {
      SegmentedRaftLog log =
          SegmentedRaftLog.newBuilder()
              .setMemberId(MEMBER)
              .setStorage(storage)
              .setSnapshotIndexSupplier(() -> RaftLog.INVALID_LOG_INDEX)
              .setProperties(settings)
              .build();
      log.open(RaftLog.INVALID_LOG_INDEX, _ -> {});
      return new Opened(storage, log);
    } catch (IOException | RuntimeException | Error failure) {
      storage.close();
      throw failure;
    }
  }

  @Override
  void commit(Opened store, SortedMap<String, String> changes) throws Exception {
    StringBuilder text = new StringBuilder();
    changes.forEach((key, value) -> text.append(key).append('=').append(value).append('\n'));
    StateMachineLogEntryProto entry =
        StateMachineLogEntryProto.newBuilder()
            .setLogData(ByteString.copyFromUtf8(text.toString()))
            .build();
    long index = store.log.getNextIndex();
    try {
      store.log.appendEntry(LogProtoUtils.toLogEntryProto(entry, TERM, index)).get();
    } catch (ExecutionException failure) {
      throw new IOException(failure.getCause());
    }
  }

  @Override
  @Nullable String get(Opened store, String key) throws IOException {
    TermIndex last = store.log.getLastEntryTermIndex();
    if (last == null) {
      return null;
    }
    String found = null;
    for (long index = store.log.getStartIndex(); index <= last.getIndex(); index++) {
      LogEntryProto entry = store.log.get(index);
      if (entry == null) {
        throw new IOException("entry " + index + " is missing, the last one is " + last);
      }
      String data = entry.getStateMachineLogEntry().getLogData().toStringUtf8();
      String line = data.lines().filter(one -> one.startsWith(key + "=")).findFirst().orElse(null);
      if (line != null) {
        found = line.substring(key.length() + 1);
      }
    }
    return found;
  }
}
