"""What explorers need beside instruments: sentences, and what rests on the code of studies."""
