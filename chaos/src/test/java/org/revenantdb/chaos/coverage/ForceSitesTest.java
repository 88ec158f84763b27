package org.revenantdb.chaos.coverage;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** The classes at the end of this file are the input; none of them ever runs. */
class ForceSitesTest {

  @Test
  void find_withoutSeam_namesWhereChannelsAreForced() {
    assertEquals(List.of("Seam.force", "Seam.lambda$later$0", "Direct.commit"), methods(List.of()));
  }

  @Test
  void find_withSeam_namesCallersOfItsForcingMethods() {
    assertEquals(
        List.of("Direct.commit", "Caller.checkpoint", "Caller.byReference"),
        methods(List.of(Seam.class.getName())));
  }

  private static List<String> methods(List<String> seam) {
    String here = ForceSitesTest.class.getName() + "$";
    return ForceSites.find(List.of(ForceSitesTest.class), seam).stream()
        .filter(site -> site.className().startsWith(here))
        .sorted((a, b) -> Integer.compare(a.line(), b.line()))
        .map(site -> site.className().substring(here.length()) + "." + site.method())
        .toList();
  }

  static final class Seam {
    private final FileChannel channel;

    Seam(FileChannel channel) {
      this.channel = channel;
    }

    void force() {
      try {
        channel.force(false);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    Consumer<Boolean> later() {
      return metadata -> {
        try {
          channel.force(metadata);
        } catch (IOException e) {
          throw new UncheckedIOException(e);
        }
      };
    }

    void writeAndForce() {
      force();
    }

    void write() {}
  }

  static final class Direct {
    void commit(FileChannel channel) throws IOException {
      channel.force(true);
    }
  }

  static final class Caller {
    void checkpoint(Seam seam) {
      seam.write();
      seam.writeAndForce();
    }

    Runnable byReference(Seam seam) {
      return seam::force;
    }

    void nothing(Seam seam) {
      seam.write();
    }
  }
}
