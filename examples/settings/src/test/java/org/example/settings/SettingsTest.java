package org.example.settings;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.nio.file.StandardCopyOption.ATOMIC_MOVE;
import static java.nio.file.StandardOpenOption.CREATE;
import static java.nio.file.StandardOpenOption.READ;
import static java.nio.file.StandardOpenOption.TRUNCATE_EXISTING;
import static java.nio.file.StandardOpenOption.WRITE;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import org.revenantdb.chaos.junit.CrashTest;
import org.revenantdb.chaos.profile.PlatformProfile;
import org.revenantdb.chaos.subject.CrashSubject;
import org.revenantdb.chaos.subject.Promises;
import org.revenantdb.chaos.subject.Recovered;

@CrashTest(profile = {PlatformProfile.EXT4_ORDERED, PlatformProfile.NAMES_LOST})
class SettingsTest implements CrashSubject<SettingsTest.Settings> {

  public Settings open(Path dir) {
    return new Settings(dir);
  }

  public void work(Settings settings, Promises promises) throws IOException {
    for (int i = 0; i < 20; i++) {
      String key = "key" + i % 3;
      String value = "value " + i + " of life " + promises.seed();
      settings.put(key, value);
      promises.durable(key, value);
    }
  }

  public void check(Settings settings, Recovered recovered) {
    recovered.verify(settings::get);
  }

  /** The store under test: a file for each key, replaced as a whole. */
  record Settings(Path dir) {

    String get(String key) {
      Path file = dir.resolve(key);
      try {
        return Files.exists(file) ? Files.readString(file) : null;
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    void put(String key, String value) throws IOException {
      Path next = dir.resolve(key + ".next");
      try (FileChannel file = FileChannel.open(next, CREATE, TRUNCATE_EXISTING, WRITE)) {
        file.write(UTF_8.encode(value));
        file.force(true); // take this line away and see what happens
      }
      Files.move(next, dir.resolve(key), ATOMIC_MOVE);
      try (FileChannel names = FileChannel.open(dir, READ)) {
        names.force(true); // or this one
      }
    }
  }
}
