package org.revenantdb.jmh.gc;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import org.jspecify.annotations.Nullable;

/** Adds up the lengths of files, of which any may go at any moment. */
final class FileLengths extends SimpleFileVisitor<Path> {
  private long sum;

  private FileLengths() {}

  static long in(Path directory) throws IOException {
    FileLengths lengths = new FileLengths();
    Files.walkFileTree(directory, lengths);
    return lengths.sum;
  }

  @Override
  public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
    sum += attributes.isRegularFile() ? attributes.size() : 0;
    return FileVisitResult.CONTINUE;
  }

  @Override
  public FileVisitResult visitFileFailed(Path file, IOException failure) throws IOException {
    return goOn(failure);
  }

  @Override
  public FileVisitResult postVisitDirectory(Path folder, @Nullable IOException failure)
      throws IOException {
    return failure == null ? FileVisitResult.CONTINUE : goOn(failure);
  }

  private static FileVisitResult goOn(IOException failure) throws IOException {
    if (failure instanceof NoSuchFileException) {
      return FileVisitResult.CONTINUE; // it went
    }
    throw failure;
  }
}
