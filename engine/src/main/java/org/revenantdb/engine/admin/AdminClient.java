package org.revenantdb.engine.admin;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.ConnectException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import org.jspecify.annotations.Nullable;
import org.revenantdb.engine.BackupOptions;
import org.revenantdb.engine.BackupProgress;
import org.revenantdb.engine.StorageException;
import org.revenantdb.recovery.file.Directories;

/**
 * The view of a database that another process has open, through its socket.
 *
 * <p>Source: README.md beside this file, §54.
 */
public final class AdminClient implements DatabaseView {
  private final Path directory;
  private final AdminChannel channel;

  private AdminClient(Path directory, AdminChannel channel) {
    this.directory = directory;
    this.channel = channel;
  }

  /**
   * Connects to the process that has a database open.
   *
   * @param directory the directory of the database
   * @return the view; null if that process has no socket there
   * @throws IOException if there is a socket and it cannot be used
   */
  public static @Nullable AdminClient connect(Path directory) throws IOException {
    Path file = socketOf(directory);
    if (!Directories.exists(file)) {
      return null;
    }
    SocketChannel socket = SocketChannel.open(StandardProtocolFamily.UNIX);
    AdminChannel channel = new AdminChannel(socket);
    try {
      socket.connect(UnixDomainSocketAddress.of(file));
      channel.greet();
      return new AdminClient(directory, channel);
    } catch (ConnectException nobody) { // a process that was killed has left it
      channel.close();
      return null;
    } catch (IOException | RuntimeException failed) {
      channel.close();
      throw failed instanceof AdminException known
          ? known
          : new AdminException(
              file
                  + ": the process that has the database open cannot be reached ("
                  + failed
                  + "); run this as the same user, or close the database first");
    }
  }

  /** Under the shorter of its names: the room for the path of a socket is small. */
  private static Path socketOf(Path directory) throws IOException {
    Path named = directory.resolve(AdminSocket.FILE);
    Path real = directory.toRealPath().resolve(AdminSocket.FILE);
    return named.toString().length() < real.toString().length() ? named : real;
  }

  /**
   * The view of a database that could not be opened because a process has it open.
   *
   * @param directory the directory of the database
   * @param refused why it could not be opened
   * @return the view of that process
   * @throws StorageException {@code refused}, if it has another reason
   * @throws IOException if that process does not let others read it, or cannot be reached
   */
  public static AdminClient beside(Path directory, StorageException refused) throws IOException {
    if (refused.reason() != StorageException.Reason.LOCKED) {
      throw refused;
    }
    AdminClient client = connect(directory);
    if (client == null) {
      throw new AdminException(
          refused.getMessage()
              + " The command can read, check and back it up meanwhile if that process has opened"
              + " it for writing, withAdminSocket(true).");
    }
    return client;
  }

  @Override
  public Path directory() {
    return directory;
  }

  @Override
  public List<AdminReply.TableEntry> tables() throws IOException {
    return all(new AdminRequest.Tables(), AdminReply.TableEntry.class);
  }

  @Override
  public List<AdminReply.SequenceEntry> sequences() throws IOException {
    return all(new AdminRequest.Sequences(), AdminReply.SequenceEntry.class);
  }

  @Override
  public long count(String table, byte @Nullable [] from, byte @Nullable [] end)
      throws IOException {
    return one(new AdminRequest.Count(table, from, end), AdminReply.Amount.class).value();
  }

  @Override
  public boolean get(String table, byte[] key, OutputStream to) throws IOException {
    send(new AdminRequest.Get(table, key));
    AdminReply.Row row = next(AdminReply.Row.class);
    if (row == null) {
      return false;
    }
    AdminReply.Bytes part = next(AdminReply.Bytes.class);
    while (part != null) {
      to.write(part.bytes());
      part = next(AdminReply.Bytes.class);
    }
    return true;
  }

  @Override
  public void scan(AdminRequest.Scan scan, RowSink sink) throws IOException {
    send(scan);
    AdminReply.Row row = next(AdminReply.Row.class);
    while (row != null) {
      Value value = new Value(Math.max(0, row.valueBytes()));
      sink.row(row.key(), row.valueBytes(), value);
      value.takeRest();
      row = next(AdminReply.Row.class);
    }
  }

  /** The parts of a value as they arrive. */
  private final class Value extends InputStream {
    private long toCome;
    private byte[] part = new byte[0];
    private int at;

    Value(long length) {
      toCome = length;
    }

    @Override
    public int read() throws IOException {
      byte[] one = new byte[1];
      return read(one, 0, 1) < 0 ? -1 : one[0] & 0xFF;
    }

    @Override
    public int read(byte[] into, int offset, int length) throws IOException {
      if (length == 0) {
        return 0;
      }
      if (at == part.length && !takePart()) {
        return -1;
      }
      int taken = Math.min(length, part.length - at);
      System.arraycopy(part, at, into, offset, taken);
      at += taken;
      return taken;
    }

    private boolean takePart() throws IOException {
      if (toCome == 0) {
        return false;
      }
      long before = toCome;
      toCome = 0; // after a failure nothing comes any more
      AdminReply.Bytes next = next(AdminReply.Bytes.class);
      if (next == null || next.bytes().length == 0 || next.bytes().length > before) {
        throw unexpected(next);
      }
      part = next.bytes();
      at = 0;
      toCome = before - part.length;
      return true;
    }

    /** Takes the parts that were not read: the next row follows them. */
    void takeRest() throws IOException {
      while (takePart()) {
        at = part.length;
      }
    }
  }

  @Override
  public AdminReply.Checked check() throws IOException {
    return one(new AdminRequest.Check(), AdminReply.Checked.class);
  }

  /** If the listener ends it, the connection is closed, which ends the backup there. */
  @Override
  public AdminReply.BackedUp backup(Path target, BackupOptions options) throws IOException {
    return backup(target.toAbsolutePath().toString(), OutputStream.nullOutputStream(), options);
  }

  /** If the stream fails or the listener ends it, the connection is closed likewise. */
  @Override
  public AdminReply.BackedUp backup(OutputStream target, BackupOptions options) throws IOException {
    return backup(null, target, options);
  }

  private AdminReply.BackedUp backup(
      @Nullable String target, OutputStream stream, BackupOptions options) throws IOException {
    send(new AdminRequest.Backup(target, options.bytesPerSecond(), options.since()));
    while (true) {
      AdminReply reply = next(AdminReply.class);
      switch (reply) {
        case AdminReply.BackedUp done -> {
          demandEnd();
          write(stream::flush);
          return done;
        }
        case AdminReply.Progress now -> tell(now, options);
        case AdminReply.Bytes part when target == null -> write(() -> stream.write(part.bytes()));
        case null, default -> throw unexpected(reply);
      }
    }
  }

  /** Something that uses the stream of the caller. */
  private interface Writing {
    void run() throws IOException;
  }

  private void tell(AdminReply.Progress now, BackupOptions options) throws IOException {
    if (!options
        .listener()
        .test(new BackupProgress(now.pages(), now.pagesToCopy(), now.logBytes()))) {
      close();
      throw new CancellationException("the listener has ended the backup");
    }
  }

  /** The other process must not go on for a stream that has failed. */
  private void write(Writing writing) throws IOException {
    try {
      writing.run();
    } catch (IOException | RuntimeException ofStream) {
      close();
      throw new AdminException("the backup cannot be written: " + ofStream);
    }
  }

  /** A connection that is not served may be closed before it was asked, and says why. */
  private void send(AdminRequest request) throws IOException {
    try {
      channel.send(request);
    } catch (IOException closed) {
      AdminReply why = channel.reply();
      throw why instanceof AdminReply.Failed failed ? new AdminException(failed.message()) : closed;
    }
  }

  private <T extends AdminReply> List<T> all(AdminRequest request, Class<T> type)
      throws IOException {
    send(request);
    List<T> found = new ArrayList<>();
    T reply = next(type);
    while (reply != null) {
      found.add(reply);
      reply = next(type);
    }
    return found;
  }

  private <T extends AdminReply> T one(AdminRequest request, Class<T> type) throws IOException {
    send(request);
    T reply = next(type);
    if (reply == null) {
      throw unexpected(null);
    }
    demandEnd();
    return reply;
  }

  private void demandEnd() throws IOException {
    AdminReply more = next(AdminReply.class);
    if (more != null) {
      throw unexpected(more);
    }
  }

  /** The next part of an answer; null at its end. */
  private <T extends AdminReply> @Nullable T next(Class<T> type) throws IOException {
    AdminReply reply = channel.reply();
    if (reply instanceof AdminReply.Failed failed) {
      throw new AdminException(failed.message());
    }
    if (reply instanceof AdminReply.End) {
      return null;
    }
    if (!type.isInstance(reply)) {
      throw unexpected(reply);
    }
    return type.cast(reply);
  }

  private static AdminException unexpected(@Nullable AdminReply reply) {
    return new AdminException(
        "the process that has the database open has sent an answer that does not belong here: "
            + (reply == null ? "the end" : reply.getClass().getSimpleName()));
  }

  @Override
  public void close() throws IOException {
    channel.close();
  }
}
