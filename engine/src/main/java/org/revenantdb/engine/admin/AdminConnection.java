package org.revenantdb.engine.admin;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.BackupOptions;
import org.revenantdb.engine.BackupProgress;
import org.revenantdb.engine.RevenantException;

/**
 * Answers the requests of one connection until it ends. Its rows are those of one moment.
 *
 * <p>Threads: its own.
 */
final class AdminConnection {
  private static final int PART = 1 << 16;

  private final AdminChannel channel;
  private final DatabaseView view;

  AdminConnection(AdminChannel channel, DatabaseView view) {
    this.channel = channel;
    this.view = view;
  }

  /** Returns when the other end has closed the connection, or this one has. */
  void serve() {
    try (AdminChannel open = channel;
        DatabaseView read = view) {
      open.greet();
      AdminRequest request = open.request();
      while (request != null) {
        answer(read, request);
        open.flush();
        request = open.request();
      }
    } catch (IOException | RevenantException ended) {
      // The other end has gone, speaks otherwise, or the database is closed: nobody can be told.
    }
  }

  private void answer(DatabaseView read, AdminRequest request) throws IOException {
    try {
      reply(read, request);
    } catch (RuntimeException | AdminException refused) {
      channel.send(new AdminReply.Failed(String.valueOf(refused.getMessage())));
      return;
    } catch (OutOfMemoryError | StackOverflowError refused) {
      channel.send(new AdminReply.Failed("the process that has the database open: " + refused));
      return;
    }
    channel.send(new AdminReply.End());
  }

  private void reply(DatabaseView read, AdminRequest request) throws IOException {
    switch (request) {
      case AdminRequest.Tables _ -> {
        for (AdminReply table : read.tables()) {
          channel.send(table);
        }
      }
      case AdminRequest.Sequences _ -> {
        for (AdminReply sequence : read.sequences()) {
          channel.send(sequence);
        }
      }
      case AdminRequest.Count count ->
          channel.send(new AdminReply.Amount(read.count(count.table(), count.from(), count.end())));
      case AdminRequest.Get get -> get(read, get);
      case AdminRequest.Scan scan -> read.scan(scan, this::row);
      case AdminRequest.Check _ -> channel.send(read.check());
      case AdminRequest.Backup backup -> backup(read, backup);
    }
  }

  private void row(byte[] key, long valueBytes, InputStream value) throws IOException {
    channel.send(new AdminReply.Row(key, valueBytes));
    value.transferTo(new Parts(null));
  }

  private void get(DatabaseView read, AdminRequest.Get get) throws IOException {
    Parts parts = new Parts(get.key());
    if (read.get(get.table(), get.key(), parts)) {
      parts.begin();
    }
  }

  private void backup(DatabaseView read, AdminRequest.Backup backup) throws IOException {
    BackupOptions options =
        BackupOptions.defaults()
            .withBytesPerSecond(backup.bytesPerSecond())
            .withListener(this::tell);
    String since = backup.since();
    BackupOptions wanted = since == null ? options : options.withSince(since);
    String target = backup.target();
    channel.send(
        target == null
            ? read.backup(new Parts(null), wanted)
            : read.backup(Path.of(target), wanted));
  }

  /** The backup goes on only while the other end is there. */
  private boolean tell(BackupProgress progress) {
    try {
      channel.send(
          new AdminReply.Progress(progress.pages(), progress.pagesToCopy(), progress.logBytes()));
      channel.flush();
      return true;
    } catch (IOException gone) {
      return false;
    }
  }

  /** Sends bytes in parts, behind the row that they belong to if it is still to come. */
  private final class Parts extends OutputStream {
    private byte @Nullable [] keyToCome;

    Parts(byte @Nullable [] keyToCome) {
      this.keyToCome = keyToCome;
    }

    void begin() throws IOException {
      byte[] key = keyToCome;
      if (key != null) {
        keyToCome = null;
        channel.send(new AdminReply.Row(key, -1));
      }
    }

    @Override
    public void write(byte[] bytes, int offset, int length) throws IOException {
      begin();
      for (int at = 0; at < length; at += PART) {
        byte[] part = new byte[Math.min(PART, length - at)];
        System.arraycopy(bytes, offset + at, part, 0, part.length);
        channel.send(new AdminReply.Bytes(part));
      }
    }

    @Override
    public void write(int one) throws IOException {
      write(new byte[] {(byte) one}, 0, 1);
    }
  }
}
